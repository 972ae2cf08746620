// One MCP server as a process: its calls, its deaths, its list, its end.
import { afterEach, describe, expect, test } from 'vitest';
import { call } from '../tools/invoke.ts';
import { openScripted, type Opened } from './open.ts';

let opened: Opened;
const open = async (...args: Parameters<typeof openScripted>): Promise<Opened> => {
  opened = await openScripted(...args);
  return opened;
};
afterEach(() => opened.close());

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const pidsOf = ({ facts }: Opened): number[] =>
  facts().flatMap((fact) => (fact.startsWith('started ') ? [Number(fact.slice(8))] : []));

describe('a call', () => {
  test("returns the tool's result, and its errors as errors", async () => {
    const { run, called, answeredMs } = await open();
    expect(await run('it__echo', { text: 'hello' })).toEqual({
      kind: 'result',
      content: [{ type: 'text', text: 'hello' }],
      is_error: false,
    });
    expect(await run('it__fail')).toMatchObject({ is_error: true, content: [{ text: 'it did not work' }] });
    expect(await run('it__refuse')).toMatchObject({
      is_error: true,
      content: expect.stringContaining('The MCP server it refused the call: '),
    });
    expect(called).toEqual([
      ['it', 'completed'],
      ['it', 'failed'],
      ['it', 'failed'],
    ]);
    expect(answeredMs).toEqual([expect.any(Number), expect.any(Number), expect.any(Number)]);
    for (const ms of answeredMs) expect(ms).toBeGreaterThan(0);
  });

  test('whose arguments do not match is not sent', async () => {
    const { run, facts } = await open();
    expect(await run('it__echo', { text: 3 })).toMatchObject({ is_error: true });
    expect(facts().filter((fact) => fact === 'called echo')).toEqual([]);
  });

  test('reports its progress, and may take longer than its time-out while it does', async () => {
    const { run, progress } = await open({ timeout_ms: 3_000 });
    expect(await run('it__count', { ms: 1_000 })).toMatchObject({
      is_error: false,
      content: [{ text: 'counted' }],
    });
    expect(progress.slice(0, 3)).toEqual([1, 2, 3].map((done) => ({ message: undefined, done, total: 4 })));
  });

  test('that never ends is stopped at the maximum, whatever progress it reports', async () => {
    const { run } = await open({ timeout_ms: 3_000, max_timeout_ms: 3_500 });
    expect(await run('it__count', { ms: 1_000 })).toMatchObject({
      is_error: true,
      content: 'The tool it__count timed out after 3.5 s.',
    });
  });

  test('without progress is given up after its time-out, and the server is notified', async () => {
    const { run, facts, until, called, answeredMs } = await open({ timeout_ms: 200 });
    expect(await run('it__hang')).toEqual({
      kind: 'result',
      content: 'The call timed out: the MCP server it sent nothing for 0.2 s.',
      is_error: true,
    });
    await until(() => facts().includes('cancelled'));
    expect(called).toEqual([['it', 'timed_out']]);
    expect(answeredMs).toEqual([]);
  });

  test('that is aborted ends at once, and the server is notified', async () => {
    const { run, facts, until, called } = await open();
    const abort = new AbortController();
    const outcome = run('it__hang', {}, abort.signal);
    await until(() => facts().includes('called hang'));
    abort.abort();
    expect(await outcome).toEqual({ kind: 'aborted' });
    await until(() => facts().includes('cancelled'));
    expect(called).toEqual([['it', 'aborted']]);
  });
});

describe('a server that dies in the middle of a call', () => {
  test('is started again, and calls that may run again are repeated', async () => {
    const { run, facts } = await open();
    expect(await run('it__die_once')).toMatchObject({ is_error: false, content: [{ text: 'lives' }] });
    expect(facts().filter((fact) => fact === 'called die_once')).toHaveLength(2);
  });

  test('leaves the outcome of a once call unknown: it is not repeated', async () => {
    const one = await open();
    const { run, facts, called } = one;
    expect(await run('it__die')).toEqual({
      kind: 'result',
      content:
        'Started, outcome unknown: the connection to the MCP server it was lost before it answered. The call may have taken effect. Check before repeating it.',
      is_error: true,
    });
    expect(facts().filter((fact) => fact === 'called die')).toHaveLength(1);
    expect(called).toEqual([['it', 'cut']]);
    await one.until(() => pidsOf(one).length === 2 && one.isUp('it'));
    expect(await run('it__echo', { text: 'again' })).toMatchObject({ content: [{ text: 'again' }] });
  });

  test('every time is tried three times', async () => {
    const { run, facts } = await open();
    expect(await run('it__die_always')).toMatchObject({
      is_error: true,
      content: 'The connection to the MCP server it was lost before it answered. Repeating the call is safe.',
    });
    expect(facts().filter((fact) => fact === 'called die_always')).toHaveLength(3);
  });
});

describe('a list', () => {
  test('that changes is read, and a job continues with the one it began with', async () => {
    const { run, names, servers, until } = await open();
    const job = call('it__echo', {});
    const before = servers.offer('it', job);
    expect(names('it')).not.toContain('it__learnt');
    await run('it__learn');
    await until(() => names('it').includes('it__learnt'));
    expect(servers.offer('it', job)).toEqual(before);
    expect(await run('it__learnt')).toMatchObject({ content: [{ text: 'did learnt' }] });
  });

  test('contains the allowed tools', async () => {
    const { names, servers } = await open({ tools: ['e*', 'die*once'] });
    expect(names('it')).toEqual(['it__echo', 'it__env', 'it__die_once']);
    expect(servers.get('it__secret', null)).toBeUndefined();
  });
});

describe('a process', () => {
  test('sees only the variables of our environment that contain no secret', async () => {
    process.env['ANTHROPIC_API_KEY'] = 'sk-ant-secret';
    process.env['DATABASE_URL'] = 'postgres://secret';
    const { run } = await open({ env: { ONLY: 'this' } });
    delete process.env['ANTHROPIC_API_KEY'];
    delete process.env['DATABASE_URL'];
    const outcome = await run('it__env');
    const [part] = outcome.kind === 'result' && typeof outcome.content !== 'string' ? outcome.content : [];
    const seen: object = JSON.parse(part?.type === 'text' ? part.text : '{}');
    expect(seen).toMatchObject({ ONLY: 'this', PATH: process.env['PATH'] });
    const allowed = ['HOME', 'LOGNAME', 'ONLY', 'PATH', 'SHELL', 'TERM', 'USER', '__CF_USER_TEXT_ENCODING'];
    expect(Object.keys(seen).filter((name) => !allowed.includes(name))).toEqual([]);
  });

  test('is no shell: shell syntax is an argument', async () => {
    const { servers, lines, until } = await open(
      {},
      { it: { command: 'echo hello; touch /tmp/never', start_timeout_ms: 200 } },
    );
    await until(() => lines.some((line) => line.includes('ENOENT')));
    await until(() => servers.offer('it', null)?.kind === 'tools');
  });

  test('ends with its children when it is stopped', async () => {
    const one = await open();
    const outcome = await one.run('it__leave_child');
    const [part] = outcome.kind === 'result' && typeof outcome.content !== 'string' ? outcome.content : [];
    const child = Number(part?.type === 'text' ? part.text : 0);
    expect(isAlive(child)).toBe(true);
    await one.servers.stop();
    await one.until(() => !isAlive(child) && pidsOf(one).every((pid) => !isAlive(pid)));
  });

  test('with other lines on its standard output still works', async () => {
    const { run, lines } = await open();
    expect(await run('it__echo', { text: 'hello' })).toMatchObject({ is_error: false });
    expect(lines.some((line) => line.includes('message of an MCP server'))).toBe(true);
  });
});

describe('a server that cannot be reached', () => {
  test('delays nothing: it is starting, and then one tool replaces it', async () => {
    const { servers, names, run, until } = await open(
      {},
      { it: { command: '/no/such/server', start_timeout_ms: 5_000 } },
    );
    expect(servers.offer('it', null)).toEqual({ kind: 'starting' });
    await until(() => names('it').length > 0);
    expect(names('it')).toEqual(['it__unavailable']);
    expect(await run('it__unavailable')).toMatchObject({
      is_error: true,
      content: expect.stringContaining('The MCP server it is not responding'),
    });
    expect(servers.offer('other', null)).toBeNull();
  });
});
