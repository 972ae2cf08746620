// Which job of a branch is the last: jobs run by priority and time, not in the order of their ids.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import { v7 } from 'uuid';
import { releaseDueInputs } from '../../../src/commands/inputs/release-due.ts';
import { perform } from '../../../src/commands/perform.ts';
import { DEFAULT_TENANT, type ContextId, type ProcessId } from '../../../src/core/ids.ts';
import type { JobOutcome } from '../../../src/core/run/job.ts';
import { addProcess, take } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api);
});
afterAll(() => api.close());

const FAILED: JobOutcome = { status: 'failed', error: { code: 'provider_auth', message: 'The key was refused.' } };

const post = async (contextId: ContextId, options: object = {}): Promise<string> =>
  (await api.post(`/api/contexts/${contextId}/messages`, { content: 'x', ...options })).body.job_id;
const retry = async (...ids: string[]): Promise<Body[]> => (await api.post('/api/jobs/retry', { ids })).body.data;
const codesOf = async (...ids: string[]): Promise<(string | null)[]> =>
  (await retry(...ids)).map(({ error }: Body) => error?.code ?? null);

/** The next queued job of the context is admitted, and fails. */
async function runNext(contextId: ContextId): Promise<void> {
  const manual = await take(api, contextId, owner);
  await manual.admit();
  await manual.settle(FAILED);
}

test('a delayed job that ran after a job that was posted later is the last one', async () => {
  const { context_id } = await api.worker();
  const delayed = await post(context_id, { after_s: 3_600 });
  const later = await post(context_id);
  await runNext(context_id);
  await api.database.db.execute(
    sql`update jobs set starts_at = date_trunc('milliseconds', now()) - interval '1 second'
      where id = ${delayed}`,
  );
  await perform(api.commands, releaseDueInputs({ tenantId: DEFAULT_TENANT, contextId: context_id }));
  await runNext(context_id);
  expect(await codesOf(delayed, later)).toEqual([null, 'superseded']);
});

test('a job that ran first because of its priority is superseded by one that was posted before it', async () => {
  const { context_id } = await api.worker();
  const first = await post(context_id, { priority: 9 });
  const urgent = await post(context_id, { priority: 1 });
  const manual = await take(api, context_id, owner);
  await manual.admit();
  await manual.settle(FAILED);
  await manual.admit();
  await manual.complete('y');
  expect(await codesOf(urgent, first)).toEqual(['superseded', 'completed']);
});

test('a job is not retried again if its id is ahead of that of its retry', async () => {
  const { context_id } = await api.worker();
  const old = await post(context_id);
  const ahead = v7({ msecs: Date.now() + 3_600_000 });
  await runNext(context_id);
  await api.database.db.execute(sql`update messages set job_id = ${ahead} where job_id = ${old}`);
  await api.database.db.execute(sql`update jobs set id = ${ahead} where id = ${old}`);
  const [again] = await retry(ahead);
  await runNext(context_id);
  expect(await codesOf(ahead, again.retry_job_id)).toEqual(['superseded', null]);
});

test('a retry that was withdrawn before it began can be retried until another job has begun', async () => {
  const { context_id } = await api.worker();
  const failed = await post(context_id);
  await runNext(context_id);
  const [first] = await retry(failed);
  await api.post(`/api/jobs/${first.retry_job_id}/cancel`);
  const dry = await api.post('/api/jobs/retry', { ids: [failed, first.retry_job_id], dry_run: true });
  expect(dry.body.data.map(({ error }: Body) => error)).toEqual([null, null]);
  const [second] = await retry(failed);
  await runNext(context_id);
  expect(await codesOf(failed, first.retry_job_id, second.retry_job_id)).toEqual(['superseded', 'superseded', null]);
});

test('however many jobs of the context ran on other branches since, a job can be retried', async () => {
  const worker = await api.worker();
  const failed = await post(worker.context_id);
  await runNext(worker.context_id);
  await api.database.db
    .execute(sql`insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position,
      metadata, started_at, finished_at, first_seq, last_seq)
    select ('ffffffff' || substr(gen_random_uuid()::text, 9))::uuid, ${DEFAULT_TENANT}, ${worker.context_id},
      ${worker.id}, 'retry', 'other', 'completed', 1, '{}', now(), now(), 1000 + n, 1001 + n
    from generate_series(1, 150) n`);
  expect(await codesOf(failed)).toEqual([null]);
});

test('more requests at once than the API has connections are all answered', async () => {
  const batch = v7();
  const { context_id } = await api.worker();
  const failed = await post(context_id, { metadata: { batch } });
  await runNext(context_id);
  const filter = { metadata: { batch } };
  const answers = await Promise.all(
    Array.from({ length: 12 }, async () => api.post('/api/jobs/retry', { filter }, { 'idempotency-key': v7() })),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(answers.reduce((sum, { body }) => sum + body.retried, 0)).toBe(1);
  expect(answers.every(({ body }) => body.data[0].id === failed)).toBe(true);
});

test('a job that is named twice is retried once', async () => {
  const { context_id } = await api.worker();
  const failed = await post(context_id);
  await runNext(context_id);
  expect(await codesOf(failed, failed.toUpperCase())).toEqual([null]);
});

test('a token gives the retry its own metadata, and at most the default priority', async () => {
  const shared = await openApi({ NIGHTSHIFT_API_KEYS: 'ours:default', NIGHTSHIFT_SECRET_KEY: 's'.repeat(32) });
  try {
    const ours = { authorization: 'Bearer ours' };
    const { body: worker } = await shared.post('/api/workers', { name: 'w', user: 'ann' }, ours);
    const input = { content: 'x', priority: 2, metadata: { app: 'mine', batch: 7 } };
    const { body: posted } = await shared.post(`/api/workers/${worker.id}/messages`, input, ours);
    const manual = await take(shared, worker.context_id, await addProcess(shared));
    await manual.admit();
    await manual.settle(FAILED);
    const asked = { user: 'ann', scopes: ['read', 'run'], expires_in_s: 600, metadata: { app: 'shop' } };
    const { body: made } = await shared.post('/api/tokens', asked, ours);
    const token = { authorization: `Bearer ${made.token}` };
    const { body } = await shared.post('/api/jobs/retry', { ids: [posted.job_id] }, token);
    const [retried] = await shared.database.db.execute(
      sql`select priority, metadata, user_name from jobs where id = ${body.data[0].retry_job_id}`,
    );
    expect(retried).toEqual({ priority: 5, metadata: { app: 'shop', batch: 7 }, user_name: 'ann' });
  } finally {
    await shared.close();
  }
});
