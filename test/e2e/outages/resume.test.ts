// How long it takes until the contexts of a killed process are run by another one, several deaths in a row. The figures
// are printed: on a busy machine they are not meaningful. That no context is delayed holds everywhere.
import { afterAll, expect, inject, test } from 'vitest';
import { depth } from '../../services/depth.ts';
import { killChildren, startChild, type Child } from '../rig/children.ts';
import { openEnvironment, type TestEnvironment } from '../rig/environment.ts';
import { until } from '../rig/until.ts';

afterAll(killChildren);

const CONTEXTS = depth(30, 100);
const DEATHS = depth(2, 4);

async function startWorker(environment: TestEnvironment): Promise<Child> {
  const child = startChild('test/e2e/outages/resume-worker.ts', [], {
    ...environment.env,
    OUTSIDE: environment.file('outside'),
  });
  await child.says(/^up$/);
  return child;
}

const contexts = (environment: TestEnvironment) =>
  environment.query(
    'select c.id, c.scheduling_status, p.pid from contexts c left join processes p on p.id = c.lease_owner',
  );

/** Resolves once this process owns each context. */
async function ownsAll(environment: TestEnvironment, { pid }: Child): Promise<void> {
  await until('every context to be run by the one that is there', async () =>
    (await contexts(environment)).every((row) => row['pid'] === pid),
  );
}

/**
 * From the kill of the process that owns them all until another process owns each context, in milliseconds, in order.
 */
async function kill(environment: TestEnvironment, victim: Child): Promise<number[]> {
  victim.signal('SIGKILL');
  const killed = performance.now();
  await victim.exited;
  const resumed = new Map<unknown, number>();
  await until('every context to be resumed', async () => {
    for (const { id, scheduling_status: status, pid } of await contexts(environment)) {
      expect(status, 'a context was delayed whose process died with many').not.toBe('waiting');
      if (pid !== null && pid !== victim.pid && !resumed.has(id)) resumed.set(id, performance.now() - killed);
    }
    return resumed.size === CONTEXTS;
  });
  return [...resumed.values()].sort((a, b) => a - b);
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

// Without wake-ups two processes share the due contexts, and the one that dies does not run them all.
test.skipIf(inject('redisUrl') === null).each([
  ['that make progress between deaths', 'call: look {"before_ms": 2000}\n---\n'.repeat(100)],
  ['whose model call outlasts them all', 'wait: 1h\n'],
])(`${CONTEXTS} contexts %s`, { timeout: 120_000 }, async (what, script) => {
  const environment = await openEnvironment();
  try {
    for (let count = 0; count < CONTEXTS; count += 1) {
      const contextId = await environment.createContext({ model: 'simulated/default', tools: ['look'] });
      await environment.post(contextId, `${script}say: done`);
    }
    let running = await startWorker(environment);
    const all: number[] = [];
    for (let death = 1; death <= DEATHS; death += 1) {
      // Alone, so that it runs them all: contexts of another process would change owners without a death.
      await ownsAll(environment, running);
      const next = await startWorker(environment);
      const times = await kill(environment, running);
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
    await environment.close();
  }
});
