// Webhooks while worker processes are killed in the middle of sending and the receiver fails at random: every event
// arrives at least once, those of a job in their order, with Redis and without.
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import type { JobId } from '../../../src/core/ids.ts';
import { depth } from '../../services/depth.ts';
import { startReceiver, type Receiver } from '../../workers/webhooks/receiver.ts';
import { killChildren, type Child } from '../rig/children.ts';
import { openEnvironment, type TestEnvironment } from '../rig/environment.ts';
import { WEBHOOK_SECRET, addHook } from '../rig/hooks.ts';
import { startWorker, type Env } from '../rig/platform.ts';
import { until } from '../rig/until.ts';

const CONTEXTS = depth(6, 20);
const JOBS = depth(3, 8);
/** The requests, by their number, in which all worker processes are killed. */
const KILLED_AT = [5, 20];

let environment: TestEnvironment;
let receiver: Receiver;
let workers: Child[] = [];
beforeEach(async () => {
  environment = await openEnvironment();
  receiver = await startReceiver();
});
afterEach(async () => {
  await killChildren();
  await receiver.close();
  await environment.close();
});

/** What failed is due again. What an earlier event delays stays delayed. */
const hurry = () =>
  environment.query(`
    with due as (
      update webhook_deliveries set next_attempt_at = now() where status = 'pending' and attempts > 0 returning 1
    )
    update webhooks set due_at = now(), held_until = null where status = 'active' and due_at is not null`);

test.each([['with Redis'], ['without Redis']])(
  'at least once and in order %s, through kills of the sending processes',
  { timeout: 240_000 },
  async (mode) => {
    if (mode === 'with Redis' && inject('redisUrl') === null) return;
    const env: Env = {
      ...environment.env,
      ...(mode === 'with Redis' ? {} : { REDIS_URL: 'redis://127.0.0.1:1' }),
      NIGHTSHIFT_CONFIG: 'test/e2e/outages/webhooks.config.ts',
      NIGHTSHIFT_SECRET_KEY: WEBHOOK_SECRET,
    };
    const id = await addHook(environment, receiver);
    const accepted: { jobId: string; seq: number; id: string }[] = [];
    const startAll = async () => void (workers = await Promise.all([startWorker(env), startWorker(env)]));
    let restarting: Promise<void> = Promise.resolve();
    receiver.behave((received, response) => {
      if (KILLED_AT.includes(receiver.received.length)) {
        // Before the response: the process dies while it sends.
        for (const worker of workers) worker.signal('SIGKILL');
        restarting = startAll();
        return;
      }
      const fate = Math.random();
      if (fate < 0.1) return void response.destroy();
      if (fate < 0.2) return void response.writeHead(500).end();
      accepted.push({ jobId: received.jobId ?? '', seq: received.seq ?? 0, id: received.id });
      response.writeHead(204).end();
    });
    await startAll();
    const jobs: JobId[] = [];
    for (let count = 0; count < CONTEXTS; count += 1) {
      const contextId = await environment.createContext({ model: 'simulated/default' });
      for (let job = 0; job < JOBS; job += 1) jobs.push(await environment.post(contextId, 'say: hello'));
    }
    await environment.settled();
    await until('every event to arrive', async () => {
      await restarting;
      await hurry();
      const left = await environment.query(`
        select 1 from webhook_outbox union all select 1 from webhook_deliveries where status <> 'delivered' limit 1`);
      return left.length === 0;
    });
    expect(receiver.received.length).toBeGreaterThan(Math.max(...KILLED_AT));
    expect(receiver.received.every(({ isSigned }) => isSigned)).toBe(true);
    const rows = await environment.query(
      `select id, job_id, seq, type from webhook_deliveries where webhook_id = '${id}'`,
    );
    expect(rows.length).toBe(2 * jobs.length);
    expect(new Set(accepted.map((one) => one.id))).toEqual(new Set(rows.map((row) => String(row['id']))));
    for (const jobId of jobs) {
      const first = [...new Set(accepted.filter((one) => one.jobId === jobId).map(({ seq }) => seq))];
      expect([jobId, first]).toEqual([jobId, [1, 2]]);
    }
  },
);
