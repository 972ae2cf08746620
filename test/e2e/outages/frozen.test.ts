// A worker process is frozen (SIGSTOP, a paused virtual machine) again and again while inputs arrive. Its locks in
// Postgres delay inputs only briefly: an input that waits for them for as long as a request may take is refused, and
// none is.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, inject, test } from 'vitest';
import { depth } from '../../services/depth.ts';
import { killChildren } from '../rig/children.ts';
import { startApi, startWorker } from '../rig/platform.ts';
import { openEnvironment } from '../rig/environment.ts';
import { until } from '../rig/until.ts';

const CONTEXTS = depth(16, 48);
const CLIENTS = depth(8, 24);
const ROUNDS = depth(1, 3);
/** A process is frozen until every context has accepted an input, and for this long at the least. */
const FROZEN_MS = depth(0, 12_000);
/** Claims read it whole, more than sockets hold: a process that is frozen then has not read it. */
const LONG_TEXT = 'x'.repeat(400_000);

const redis = inject('redisUrl') !== null;
const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  await killChildren();
  for (const end of ending.splice(0).reverse()) await end();
});

test.skipIf(!redis)(
  'every context accepts inputs while a process is frozen, and none is refused',
  { timeout: 180_000 },
  async () => {
    const environment = await openEnvironment();
    ending.push(() => environment.close());
    const [{ client }, ...workers] = await Promise.all([
      startApi(environment.env),
      ...[1, 2, 3].map(() => startWorker(environment.env)),
    ]);
    const contexts = await Promise.all(
      Array.from({ length: CONTEXTS }, () => client.createContext({ model: 'simulated/default' })),
    );
    const long = contexts.slice(0, CONTEXTS / 4);
    for (const { id } of long) await client.post(id, `say: ok\n---\n${LONG_TEXT}`);

    const waits: number[] = [];
    const refused: string[] = [];
    const jobs: string[] = [];
    /** Contexts that accepted an input that was posted since the process was frozen. */
    let taken = new Set<string>();
    const over = new AbortController();
    const drive = async (at: number): Promise<void> => {
      for (let turn = at; !over.signal.aborted; turn += CLIENTS + 1) {
        const id = contexts[turn % CONTEXTS]?.id ?? '';
        const since = taken;
        const began = performance.now();
        await client.post(id, 'say: done').then(
          ({ job_id: job }) => void (jobs.push(job), since.add(id)),
          (error: unknown) => refused.push(String(error)),
        );
        waits.push(performance.now() - began);
        await sleep(60);
      }
    };
    const allTakeInputs = async (): Promise<void> => {
      const since = (taken = new Set());
      await until('every context to take an input', () => since.size === CONTEXTS);
    };
    const driving = Promise.all(Array.from({ length: CLIENTS }, (_, at) => drive(at)));
    for (const worker of workers.slice(0, ROUNDS)) {
      await allTakeInputs();
      worker.signal('SIGSTOP');
      await Promise.all([allTakeInputs(), sleep(FROZEN_MS)]);
      worker.signal('SIGCONT');
    }
    over.abort();
    await driving;

    const sorted = waits.toSorted((a, b) => a - b);
    const [p50, p99, most] = [0.5, 0.99, 1].map((part) => Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? 0));
    process.stdout.write(
      `frozen workers: ${waits.length} inputs, ${refused.length} refused; p50 ${p50} ms, p99 ${p99} ms, longest ${most} ms\n`,
    );
    expect(refused).toEqual([]);
    for (const id of jobs.slice(-CLIENTS)) expect(await client.ended(id)).toMatchObject({ status: 'completed' });
    await environment.settled();
  },
);
