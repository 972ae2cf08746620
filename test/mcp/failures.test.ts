// Why a server cannot be connected, or is lost: a class, from what processes, sockets and HTTP servers really do.
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { ServerFailure } from '../../src/core/tools/server-failure.ts';
import { freePort } from '../../src/dev/free-port.ts';
import { openScripted, type Opened } from './open.ts';

let opened: Opened | undefined;
let server: Server | undefined;
afterEach(async () => {
  await opened?.close();
  opened = undefined;
  server?.close();
  server = undefined;
});

/** Of the first attempt. */
async function failureOf(it: object): Promise<ServerFailure | undefined> {
  const { failures, until } = (opened = await openScripted({}, { it }));
  await until(() => failures.length > 0);
  return failures[0];
}

const node = (program: string) => ({ command: process.execPath, args: ['-e', program] });

/** A server that answers the first request with this, and then stays. */
const answers = (answer: object) =>
  node(
    `process.stdin.once('data', () => console.log(${JSON.stringify(JSON.stringify({ jsonrpc: '2.0', id: 0, ...answer }))}))`,
  );

const INITIALIZED = { capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } };

describe('a server that is a process', () => {
  test.each([
    ['has a command that does not exist', { command: '/no/such/command' }, 'command_not_found', null],
    ['has a command that cannot be executed', { command: import.meta.filename }, 'command_not_executable', null],
    ['ends with a code', node('process.exit(3)'), 'exited', 3],
    ['ends without an error', node(''), 'exited', 0],
    ['is killed by a signal', node("process.kill(process.pid, 'SIGKILL')"), 'exited', 137],
    ['never answers', { ...node('setInterval(() => {}, 1000)'), start_timeout_ms: 1_000 }, 'timed_out', null],
    [
      'answers with an error',
      answers({ error: { code: -32603, message: 'password=hunter2' } }),
      'protocol_error',
      null,
    ],
    [
      'speaks another version of the protocol',
      answers({ result: { ...INITIALIZED, protocolVersion: '1999-01-01' } }),
      'protocol_error',
      null,
    ],
    [
      'sends more than a message may have',
      node("process.stdout.write('x'.repeat(11 * 1024 * 1024)); setInterval(() => {}, 1000)"),
      'protocol_error',
      null,
    ],
  ])('that %s', async (_, it, reason, code) => {
    expect(await failureOf(it)).toEqual({ reason, code });
  });

  test('that dies while it is connected', async () => {
    const { failures, run, until, isUp } = (opened = await openScripted());
    expect(failures).toEqual([]);
    await run('it__die');
    await until(() => failures.length > 0);
    expect(failures[0]).toEqual({ reason: 'exited', code: 1 });
    // It was started again, and is stopped: that is no failure.
    await until(() => isUp('it'));
    const before = failures.length;
    await opened.servers.stop();
    expect(failures).toHaveLength(before);
  });

  test('that is killed while it is connected', async () => {
    const { failures, facts, until } = (opened = await openScripted());
    process.kill(Number(facts()[0]?.replace('started ', '')), 'SIGKILL');
    await until(() => failures.length > 0);
    expect(failures[0]).toEqual({ reason: 'exited', code: 137 });
  });

  test('that belongs to tenants', async () => {
    const gone = { it: { command: '/no/such/command', scope: 'tenant' } };
    const { failures, run, until } = (opened = await openScripted({}, gone));
    expect(failures).toEqual([]);
    void run('it__echo');
    await until(() => failures.length > 0);
    expect(failures[0]).toEqual({ reason: 'command_not_found', code: null });
  });
});

/** Resolves with the port on which it listens. */
async function listen(one: Server): Promise<number> {
  server = one;
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  return (one.address() as AddressInfo).port;
}

const urlOf = (port: number, protocol = 'http') => ({ url: `${protocol}://127.0.0.1:${port}/mcp` });

const says =
  (status: number, headers: Record<string, string>, body = ''): RequestListener =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);

const JSON_TYPE = { 'content-type': 'application/json' };

describe('a server with a URL', () => {
  test('where no process listens', async () => {
    expect(await failureOf(urlOf(await freePort()))).toEqual({ reason: 'refused', code: null });
  });

  test('whose name does not exist', async () => {
    expect(await failureOf({ url: 'http://nothing.invalid/mcp' })).toEqual({ reason: 'host_not_found', code: null });
  });

  test.each<[string, RequestListener, string, number | null]>([
    ['that wants a key', says(401, {}, 'key=hunter2'), 'unauthorized', 401],
    ['that forbids it', says(403, {}), 'unauthorized', 403],
    ['that fails', says(503, {}), 'http_error', 503],
    ['that has no such path', says(404, {}), 'http_error', 404],
    ['that redirects elsewhere', says(302, { location: 'http://elsewhere.invalid/' }), 'http_error', 302],
    ['that is a web page', says(200, { 'content-type': 'text/html' }, '<p>hi</p>'), 'protocol_error', null],
    ['that answers with broken JSON', says(200, JSON_TYPE, '{'), 'protocol_error', null],
    ['that answers with other JSON', says(200, JSON_TYPE, '{"a": 1}'), 'protocol_error', null],
    ['that breaks the connection', ({ socket }) => void socket.destroy(), 'lost', null],
  ])('%s', async (_, listener, reason, code) => {
    expect(await failureOf(urlOf(await listen(createHttpServer(listener))))).toEqual({ reason, code });
  });

  test('that never answers', async () => {
    const port = await listen(createHttpServer(() => undefined));
    expect(await failureOf({ ...urlOf(port), start_timeout_ms: 1_000 })).toEqual({ reason: 'timed_out', code: null });
  });

  test('that does not use TLS, unlike its URL', async () => {
    const port = await listen(createHttpServer(says(200, {})));
    expect(await failureOf(urlOf(port, 'https'))).toEqual({ reason: 'tls_error', code: null });
  });

  test('that does not use HTTP', async () => {
    const port = await listen(createTcpServer((socket) => void socket.end('220 mail.example ESMTP\r\n')));
    expect(await failureOf(urlOf(port))).toEqual({ reason: 'protocol_error', code: null });
  });
});
