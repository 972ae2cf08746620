// How long it takes until what a killed process ran is run by another one, four deaths in a row. The figures are printed:
// on a machine that is busy otherwise they say little. That nobody is waited with holds everywhere.
import { afterAll, expect, inject, test } from 'vitest';
import { killChildren, startChild } from './children.ts';
import type { Child } from './children.ts';
import { openStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { until } from './until.ts';

afterAll(killChildren);

const CONTEXTS = 100;
const DEATHS = 4;

async function startWorker(stage: Stage): Promise<Child> {
  const child = startChild('test/e2e/resume-worker.ts', [], { ...stage.env, OUTSIDE: stage.file('outside') });
  await child.says(/^up$/);
  return child;
}

/** From the kill until another process owns each context, in milliseconds, in order. */
async function kill(stage: Stage, victim: Child): Promise<number[]> {
  const owners = async () =>
    new Map(
      (await stage.query('select id, lease_owner, status from contexts')).map((row) => [row['id'], row]),
    );
  await until('every context to be run', async () => {
    const rows = await owners();
    return [...rows.values()].every((row) => row['lease_owner'] !== null);
  });
  victim.signal('SIGKILL');
  const killed = performance.now();
  await victim.exited;
  const before = await owners();
  const resumed = new Map<unknown, number>();
  await until('every context to be resumed', async () => {
    for (const [id, row] of await owners()) {
      expect(row['status'], 'a context is waited with that died among a hundred').not.toBe('waiting');
      const isOwned = row['lease_owner'] !== null && row['lease_owner'] !== before.get(id)?.['lease_owner'];
      if (isOwned && !resumed.has(id)) resumed.set(id, performance.now() - killed);
    }
    return resumed.size === before.size;
  });
  return [...resumed.values()].sort((a, b) => a - b);
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

// Without a bell two processes share what is due, and the one that dies does not run it all.
test.skipIf(inject('redisUrl') === null).each([
  ['that make progress between deaths', 'call: look {"before_ms": 2000}\n---\n'.repeat(100)],
  ['whose model call outlasts them all', 'wait: 1h\n'],
])('100 contexts %s', { timeout: 120_000 }, async (what, script) => {
  const stage = await openStage();
  try {
    for (let count = 0; count < CONTEXTS; count += 1) {
      const contextId = await stage.createContext({ model: 'simulated/default', tools: ['look'] });
      await stage.post(contextId, `${script}say: done`);
    }
    let running = await startWorker(stage);
    const all: number[] = [];
    for (let death = 1; death <= DEATHS; death += 1) {
      const next = await startWorker(stage);
      const times = await kill(stage, running);
      all.push(...times);
      process.stdout.write(
        `${what}, death ${death}: p50 ${at(times, 0.5).toFixed(0)} p95 ${at(times, 0.95).toFixed(0)} max ${at(times, 1).toFixed(0)} ms\n`,
      );
      running = next;
    }
    all.sort((a, b) => a - b);
    process.stdout.write(
      `${what}, all: p50 ${at(all, 0.5).toFixed(0)} p95 ${at(all, 0.95).toFixed(0)} max ${at(all, 1).toFixed(0)} ms\n`,
    );
  } finally {
    await killChildren();
    await stage.close();
  }
});
