// A worker process is frozen (SIGSTOP, a paused virtual machine) again and again while inputs arrive: its locks in Postgres
// delay no input for long, and no input is refused.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, inject, test } from 'vitest';
import { killChildren } from './children.ts';
import { startApi, startWorker } from './platform.ts';
import { openStage } from './stage.ts';

const CONTEXTS = 48;
const CLIENTS = 24;
const ROUNDS = 3;
const FROZEN_MS = 12_000;
/** Claims read it whole, more than sockets hold: a process that stands still then has not read it. */
const LONG_TEXT = 'x'.repeat(400_000);

const redis = inject('redisUrl') !== null;
const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  await killChildren();
  for (const end of ending.splice(0).reverse()) await end();
});

test.skipIf(!redis)(
  'no input waits longer than three seconds, and none is refused',
  { timeout: 180_000 },
  async () => {
    const stage = await openStage();
    ending.push(() => stage.close());
    const workers = await Promise.all([1, 2, 3].map(() => startWorker(stage.env)));
    const { client } = await startApi(stage.env);
    const contexts = await Promise.all(
      Array.from({ length: CONTEXTS }, () => client.createContext({ model: 'simulated/default' })),
    );
    const long = contexts.slice(0, 12);
    for (const { id } of long) await client.post(id, `say: ok\n---\n${LONG_TEXT}`);

    const waits: number[] = [];
    const refused: string[] = [];
    const jobs: string[] = [];
    const over = new AbortController();
    const drive = async (at: number): Promise<void> => {
      for (let turn = at; !over.signal.aborted; turn += CLIENTS + 1) {
        const context = contexts[turn % CONTEXTS];
        const began = performance.now();
        await client.post(context?.id ?? '', 'say: done').then(
          ({ job_id: id }) => jobs.push(id),
          (error: unknown) => refused.push(String(error)),
        );
        waits.push(performance.now() - began);
        await sleep(60);
      }
    };
    const driving = Promise.all(Array.from({ length: CLIENTS }, (_, at) => drive(at)));
    for (let round = 0; round < ROUNDS; round += 1) {
      await sleep(1_500);
      workers[round % workers.length]?.signal('SIGSTOP');
      await sleep(FROZEN_MS);
      workers[round % workers.length]?.signal('SIGCONT');
    }
    over.abort();
    await driving;

    const sorted = waits.toSorted((a, b) => a - b);
    const [p50, p99, most] = [0.5, 0.99, 1].map((part) =>
      Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? 0),
    );
    process.stdout.write(
      `frozen workers: ${waits.length} inputs, ${refused.length} refused; p50 ${p50} ms, p99 ${p99} ms, longest ${most} ms\n`,
    );
    expect(refused).toEqual([]);
    expect(most).toBeLessThan(3_000);
    for (const id of jobs.slice(-CLIENTS))
      expect(await client.ended(id)).toMatchObject({ status: 'completed' });
    await stage.settled();
  },
);
