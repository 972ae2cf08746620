// MCP servers belong to their worker process: they end with it, however it ends, and their running calls are repeated
// by another one, or not, by their effect.
import { mkdir, readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { killChildren, type Child } from '../rig/children.ts';
import { startWorker } from '../rig/platform.ts';
import { openEnvironment, type TestEnvironment } from '../rig/environment.ts';
import { history, transcript } from '../rig/stored.ts';
import { until } from '../rig/until.ts';

const CONFIG = { model: 'simulated/default', mcp_servers: ['it'] };

/** Separate processes find each other over Redis. */
const over = test.skipIf(inject('redisUrl') === null);

let environment: TestEnvironment;
let folder: string;
beforeEach(async () => {
  environment = await openEnvironment();
  folder = environment.file('servers');
  await mkdir(folder);
});
afterEach(async () => {
  await killChildren();
  await environment.close();
});

const start = (): Promise<Child> =>
  startWorker({
    ...environment.env,
    NIGHTSHIFT_CONFIG: 'test/e2e/outside/mcp.config.ts',
    OUTSIDE: folder,
    LOG_LEVEL: 'info',
  });

const facts = async (): Promise<string[]> => (await readFile(`${folder}/facts`, 'utf8').catch(() => '')).split('\n');
const count = async (fact: string): Promise<number> => (await facts()).filter((one) => one === fact).length;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Resolves when no server of that folder runs any more. */
async function serversEnd(): Promise<void> {
  const started = (await facts()).filter((fact) => fact.startsWith('started '));
  expect(started.length).toBeGreaterThan(0);
  await until('servers to end', () => started.every((fact) => !isAlive(Number(fact.slice(8)))));
}

over('a killed worker process ends its server; another one repeats calls that may be repeated', async () => {
  const first = await start();
  const contextId = await environment.createContext(CONFIG);
  const jobId = await environment.post(contextId, 'call: it__hang\nthen:\nsay: done');
  await until('the call to run', async () => (await count('called hang')) === 1);
  first.signal('SIGKILL');
  await first.exited;
  await serversEnd();
  await start();
  await until('the call to run again', async () => (await count('called hang')) === 2);
  await environment.cancel(jobId);
  await environment.settled();
});

over('a running once call is not repeated: its outcome is reported as unknown', async () => {
  const first = await start();
  const contextId = await environment.createContext(CONFIG);
  await environment.post(contextId, 'call: it__hang_once\nthen:\nsay: done');
  await until('the call to run', async () => (await count('called hang_once')) === 1);
  first.signal('SIGKILL');
  await first.exited;
  await start();
  await environment.settled();
  expect(await count('called hang_once')).toBe(1);
  const lines = transcript(await history(environment.ports.database.db, contextId));
  expect(lines).toContain('a1 tool: it__hang_once ← unknown');
});

over('a terminated worker process ends its server first', async () => {
  const worker = await start();
  await until('the server to run', async () => (await facts()).some((fact) => fact.startsWith('started ')));
  worker.signal('SIGTERM');
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  await serversEnd();
});
