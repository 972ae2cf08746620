// A server over streamable HTTP: `server-everything`, as a process of its own that is stopped and started.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { freePort } from '../../src/dev/free-port.ts';
import { openScripted, type Opened } from './open.ts';

const EVERYTHING = join(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

let opened: Opened | undefined;
let child: ChildProcess | undefined;
afterEach(async () => {
  await opened?.close();
  child?.kill('SIGKILL');
});

/** Resolves once it listens. */
async function startEverything(port: number): Promise<void> {
  const started = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child = started;
  let output = '';
  while (!/listening/i.test(output)) output += String(await once(started.stderr, 'data'));
}

test('a call makes a round trip; a server that was down is found again', async () => {
  const port = await freePort();
  await startEverything(port);
  const it = { url: `http://127.0.0.1:${port}/mcp`, headers: { 'x-key': 'k' } };
  opened = await openScripted({}, { it });
  const { run, names, isUp, until } = opened;
  await until(() => isUp('it'));
  expect(names('it')).toContain('it__echo');
  expect(await run('it__echo', { message: 'hi' })).toMatchObject({ content: [{ text: 'Echo: hi' }] });

  child?.kill('SIGKILL');
  await until(() => opened?.lines.some((line) => line.includes('was lost')) === true);
  expect(opened.failures[0]).toEqual({ reason: 'refused', code: null });
  expect(await run('it__echo', { message: 'hi' })).toEqual({
    kind: 'result',
    content:
      'The MCP server it is not responding. The call was not executed. Nightshift is reconnecting; try again later.',
    is_error: true,
  });
  await startEverything(port);
  // Attempts get less frequent; a call waits for a few seconds only.
  await until(() => isUp('it'));
  const again = await run('it__echo', { message: 'back' });
  expect(again).toMatchObject({ is_error: false, content: [{ text: 'Echo: back' }] });
});

test('a call in flight when the server dies is not waited for', async () => {
  const port = await freePort();
  await startEverything(port);
  opened = await openScripted({}, { it: { url: `http://127.0.0.1:${port}/mcp` } });
  const { run, progress, isUp, until } = opened;
  await until(() => isUp('it'));
  const outcome = run('it__trigger-long-running-operation', { duration: 60, steps: 600 });
  await until(() => progress.length > 0);
  child?.kill('SIGKILL');
  expect(await outcome).toMatchObject({
    is_error: true,
    content: expect.stringContaining('was lost before it answered'),
  });
});
