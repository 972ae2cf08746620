// Retrying many jobs: by ids and by filter, each once, also with several requests at once and after a crash in the middle.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import { v7 } from 'uuid';
import type { ContextId, JobId, ProcessId } from '../../../src/core/ids.ts';
import type { JobOutcome } from '../../../src/core/run/job.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_SECRET_KEY: 's'.repeat(32) });
  owner = await addProcess(api, { roles: ['coder'] });
});
afterAll(() => api.close());

const FAILED: JobOutcome = { status: 'failed', error: { code: 'provider_auth', message: 'The key was refused.' } };

const retry = (body: object, headers?: Record<string, string>) => api.post('/api/jobs/retry', body, headers);
const jobOf = async (id: string): Promise<Body> => (await api.get(`/api/jobs/${id}`)).body;

/** A job that was admitted and has ended. */
async function ended(contextId: ContextId, options: object = {}, outcome: JobOutcome = FAILED): Promise<string> {
  const { body } = await api.post(`/api/contexts/${contextId}/messages`, { content: 'x', ...options });
  const manual = await take(api, contextId, owner);
  await manual.admit();
  await manual.settle(outcome);
  return body.job_id;
}

/** Failed jobs, each of a worker of its own. */
async function failedJobs(count: number, options: object = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) ids.push(await ended((await api.worker()).context_id, options));
  return ids;
}

const codesOf = (body: Body): (string | null)[] => body.data.map(({ error }: Body) => error?.code ?? null);

describe('by ids', () => {
  test('a failed job is retried with its options, on its branch and on behalf of its user', async () => {
    const { body: hook } = await api.post('/api/webhooks', { url: 'http://127.0.0.1:9/x', events: ['job.finished'] });
    const options = { metadata: { batch: 7 }, priority: 2, max_steps: 3, user: 'ann' };
    const [id = ''] = await failedJobs(1, { ...options, webhook: { id: hook.id } });
    api.wakeUps.length = 0;
    const { status, body } = await retry({ ids: [id] });
    expect(status).toBe(200);
    const { context_id } = await jobOf(id);
    const [{ retry_job_id }] = body.data;
    expect(body).toEqual({
      data: [{ id, context_id, retry_job_id: expect.any(String), error: null }],
      next_cursor: null,
      retried: 1,
      refused: 0,
    });
    expect(await jobOf(retry_job_id)).toMatchObject({
      kind: 'retry',
      status: 'queued',
      context_id,
      branch: 'main',
      user: 'ann',
      metadata: { batch: 7 },
    });
    const [options_] = await api.database.db.execute(
      `select priority, max_steps, (select count(*)::int from job_webhooks n where n.job_id = j.id) as hooks
       from jobs j where id = '${retry_job_id}'`,
    );
    expect(options_).toEqual({ priority: 2, max_steps: 3, hooks: 1 });
    expect(api.wakeUps.map(({ contextId }) => contextId)).toEqual([context_id]);
  });

  test('a job that cannot be retried has the reason, and the others are retried', async () => {
    const busy = await api.worker();
    const busyFailed = await ended(busy.context_id);
    const { body: queued } = await api.post(`/api/contexts/${busy.context_id}/messages`, { content: 'next' });
    const gone = await api.worker();
    const superseded = await ended(gone.context_id);
    const completed = await converse(api, gone.context_id, owner, 'hello', 'hi');
    const cleared = await api.worker();
    const missing = await ended(cleared.context_id);
    await api.post(`/api/contexts/${cleared.context_id}/clear`);
    const stopped = await api.worker();
    const stoppedJob = await ended(stopped.context_id);
    await api.post(`/api/workers/${stopped.id}/stop`);
    const compacted = await api.worker();
    const { body: compaction } = await api.post(`/api/contexts/${compacted.context_id}/compact`);
    const [fine = ''] = await failedJobs(1);
    const unknown = v7();
    const ids = [
      busyFailed,
      queued.job_id,
      superseded,
      completed,
      missing,
      stoppedJob,
      compaction.job_id,
      unknown,
      fine,
    ];
    const expected = [
      'context_busy',
      'not_ended',
      'superseded',
      'completed',
      'input_missing',
      'worker_stopped',
      'compaction',
      'not_found',
      null,
    ];
    expect(codesOf((await retry({ ids, dry_run: true })).body)).toEqual(expected);
    const { body } = await retry({ ids });
    expect(codesOf(body)).toEqual(expected);
    expect(body.data.map(({ id }: Body) => id)).toEqual(ids);
    expect([body.retried, body.refused]).toEqual([1, 8]);
  });

  test('a job is not retried twice, also once its retry has failed', async () => {
    const worker = await api.worker();
    const id = await ended(worker.context_id);
    const first = (await retry({ ids: [id] })).body.data[0].retry_job_id;
    expect(codesOf((await retry({ ids: [id] })).body)).toEqual(['context_busy']);
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    await manual.settle(FAILED);
    expect(codesOf((await retry({ ids: [id, first] })).body)).toEqual(['superseded', null]);
    expect(codesOf((await retry({ ids: [id, first] })).body)).toEqual(['superseded', 'context_busy']);
  });

  test('a withdrawn job behind it is no later job', async () => {
    const worker = await api.worker();
    const id = await ended(worker.context_id);
    const { body: next } = await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'y' });
    await api.post(`/api/jobs/${next.job_id}/cancel`);
    expect(codesOf((await retry({ ids: [next.job_id] })).body)).toEqual(['input_missing']);
    expect(codesOf((await retry({ ids: [id] })).body)).toEqual([null]);
  });

  test('an unfinished job of another branch does not keep it from being retried', async () => {
    const worker = await api.worker();
    await converse(api, worker.context_id, owner, 'hello', 'hi');
    const id = await ended(worker.context_id);
    await api.post(`/api/contexts/${worker.context_id}/branches`, { name: 'other' });
    await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'y', branch: 'other' });
    expect(codesOf((await retry({ ids: [id] })).body)).toEqual([null]);
  });

  test('several requests at once retry it once', async () => {
    const ids = await failedJobs(5);
    const answers = await Promise.all([1, 2, 3].map(() => retry({ ids })));
    expect(answers.reduce((sum, { body }) => sum + body.retried, 0)).toBe(5);
    for (const { body } of answers) for (const code of codesOf(body)) expect([null, 'context_busy']).toContain(code);
  });

  test.each([
    [{}, 'ids'],
    [{ ids: [] }, 'ids'],
    [{ ids: ['x'] }, 'ids.0'],
    [{ filter: {} }, 'filter'],
    [{ ids: [v7()], filter: { role: 'x' } }, 'filter'],
    [{ ids: [v7()], cursor: 'x' }, 'cursor'],
    [{ filter: { role: 'x' }, cursor: 'x' }, 'cursor'],
    [{ filter: { role: 'x' }, limit: 501 }, 'limit'],
    [{ filter: { role: 'x', created_after: '2026-02-30T00:00:00Z' } }, 'filter.created_after'],
    [{ filter: { everything: true } }, 'filter.everything'],
  ])('an invalid request is refused: %j', async (body, param) => {
    const refused = await retry(body);
    expect([refused.status, refused.body.error.param]).toEqual([422, param]);
  });
});

describe('by filter', () => {
  test('failed and incomplete jobs are taken, newest first and page by page, and others are left', async () => {
    const batch = v7();
    const failed = await failedJobs(3, { metadata: { batch } });
    const worker = await api.worker();
    const incomplete = await ended(
      worker.context_id,
      { metadata: { batch } },
      { status: 'incomplete', error: { code: 'max_steps', message: 'x' } },
    );
    const done = await converse(api, (await api.worker()).context_id, owner, 'hello', 'hi');
    const filter = { metadata: { batch } };
    const dry = await retry({ filter, dry_run: true });
    expect(dry.body).toMatchObject({ retried: 4, refused: 0, next_cursor: null });
    expect(dry.body.data.map(({ retry_job_id }: Body) => retry_job_id)).toEqual([null, null, null, null]);
    const first = await retry({ filter, limit: 3 });
    expect(first.body.data.map(({ id }: Body) => id)).toEqual([incomplete, failed[2], failed[1]]);
    const second = await retry({ filter, limit: 3, cursor: first.body.next_cursor });
    expect(second.body).toMatchObject({ data: [{ id: failed[0], error: null }], next_cursor: null, retried: 1 });
    expect((await jobOf(done)).status).toBe('completed');
    expect((await retry({ filter: { ...filter, status: 'cancelled' } })).body.data).toEqual([]);
  });

  test('by role, worker, context and time matches jobs with all of them', async () => {
    const batch = v7();
    const { body: coder } = await api.post('/api/workers', { name: 'w', role: 'coder' });
    const ofCoder = await ended(coder.context_id, { metadata: { batch } });
    const [other = ''] = await failedJobs(1, { metadata: { batch } });
    const idsOf = async (filter: object): Promise<string[]> =>
      (await retry({ filter: { metadata: { batch }, ...filter }, dry_run: true })).body.data.map(({ id }: Body) => id);
    expect(await idsOf({ role: 'coder' })).toEqual([ofCoder]);
    expect(await idsOf({ worker_id: coder.id, status: ['failed', 'cancelled'] })).toEqual([ofCoder]);
    expect(await idsOf({ context_id: coder.context_id })).toEqual([ofCoder]);
    expect(await idsOf({ q: ofCoder })).toEqual([ofCoder]);
    expect(await idsOf({ q: 'no such text' })).toEqual([]);
    expect(await idsOf({ created_after: (await jobOf(ofCoder)).created_at })).toEqual([other]);
  });
});

describe('under an Idempotency-Key', () => {
  test('a repeated request gets the first answer, and another one under the key is refused', async () => {
    const ids = await failedJobs(2);
    const key = { 'idempotency-key': v7() };
    const first = await retry({ ids }, key);
    expect((await retry({ ids }, key)).body).toEqual(first.body);
    expect((await retry({ ids: ids.slice(1) }, key)).body.error.code).toBe('idempotency_conflict');
  });

  test('cut off in the middle, it goes on with the same jobs without another search, and answers what happened to each', async () => {
    const batch = v7();
    const ids = await failedJobs(6, { metadata: { batch } });
    const key = { 'idempotency-key': v7() };
    const body = { filter: { metadata: { batch } }, limit: 6 };
    // After some of them nothing can be written: their transactions are committed, and no answer is stored.
    await api.database.db.execute(sql`create function fail_retry() returns trigger language plpgsql as $$ begin
      if (select count(*) from jobs where kind = 'retry' and metadata = new.metadata) >= 2
        then raise 'the process died'; end if; return new; end $$`);
    await api.database.db.execute(sql`create trigger fail_retry before insert on jobs
      for each row when (new.kind = 'retry') execute function fail_retry()`);
    const cut = await retry(body, key);
    await api.database.db.execute(sql`drop function fail_retry cascade`);
    expect(cut.status).toBe(500);
    const before = await retriesOf(ids);
    expect(before.length).toBeGreaterThan(0);
    expect(before.length).toBeLessThan(6);
    // Meanwhile another job matches: it is not of this request.
    await failedJobs(1, { metadata: { batch } });
    api.statements.length = 0;
    const { body: answer } = await retry(body, key);
    expect(api.statements.filter((text) => text.includes('jobs.list_ids'))).toEqual([]);
    expect([answer.retried, answer.refused]).toEqual([6, 0]);
    expect(answer.data.map(({ id }: Body) => id)).toEqual(ids.toReversed());
    const after = await retriesOf(ids);
    expect(after).toHaveLength(6);
    expect(after).toEqual(expect.arrayContaining(before));
    expect(answer.data.map(({ retry_job_id }: Body) => retry_job_id).toSorted()).toEqual(after.toSorted());
  });
});

/** Ids of the retries in the contexts of these jobs. */
async function retriesOf(ids: readonly string[]): Promise<JobId[]> {
  const lists = await Promise.all(
    ids.map(async (id) => {
      const { context_id } = await jobOf(id);
      return (await api.get(`/api/jobs?kind=retry&context_id=${context_id}`)).body.data;
    }),
  );
  return lists.flat().map(({ id }: Body) => id);
}

test('the audit log tells who retried which job, and nothing of those that were refused', async () => {
  const [id = ''] = await failedJobs(1);
  const refused = await converse(api, (await api.worker()).context_id, owner, 'hello', 'hi');
  const { body } = await retry({ ids: [id, refused] });
  const entries = await api.get(`/api/audit?action=job.retried&target=${id}`);
  expect(entries.body.data).toMatchObject([
    { action: 'job.retried', target: id, detail: { retry_job_id: body.data[0].retry_job_id } },
  ]);
  expect((await api.get(`/api/audit?target=${refused}`)).body.data).toEqual([]);
});

test('a job costs a fixed number of statements', async () => {
  const statements = async (count: number): Promise<number> => {
    const ids = await failedJobs(count);
    api.statements.length = 0;
    await retry({ ids });
    return api.statements.filter((text) => text !== 'begin' && text !== 'commit').length;
  };
  const [few, more] = [await statements(2), await statements(12)];
  // Each: the row lock, the facts, the options, the job, the entry.
  expect((more - few) / 10).toBe(5);
});

describe('of another caller', () => {
  const OURS = { authorization: 'Bearer ours' };

  test('no job of another tenant, or beyond the reach of a token, is found', async () => {
    const shared = await openApi({
      NIGHTSHIFT_API_KEYS: 'ours:acme,theirs:globex',
      NIGHTSHIFT_SECRET_KEY: 's'.repeat(32),
    });
    const { body: worker } = await shared.post('/api/workers', { name: 'w', user: 'ann' }, OURS);
    const { body: posted } = await shared.post(`/api/workers/${worker.id}/messages`, { content: 'x' }, OURS);
    await shared.post(`/api/jobs/${posted.job_id}/cancel`, {}, OURS);
    const tokenOf = async (user: string) => {
      const asked = { user, scopes: ['read', 'run'], expires_in_s: 600 };
      return { authorization: `Bearer ${(await shared.post('/api/tokens', asked, OURS)).body.token}` };
    };
    const [ann, bob] = [await tokenOf('ann'), await tokenOf('bob')];
    const ask = async (body: object, headers: Record<string, string>) =>
      codesOf((await shared.post('/api/jobs/retry', body, headers)).body);
    const ids = [posted.job_id];
    const filter = { status: 'cancelled' };
    for (const headers of [{ authorization: 'Bearer theirs' }, bob]) {
      expect(await ask({ ids }, headers)).toEqual(['not_found']);
      expect(await ask({ ids, dry_run: true }, headers)).toEqual(['not_found']);
      expect(await ask({ filter }, headers)).toEqual([]);
    }
    // It was withdrawn, but within reach.
    expect(await ask({ ids }, ann)).toEqual(['input_missing']);
    expect(await ask({ filter }, ann)).toEqual(['input_missing']);
    const named = await shared.post('/api/jobs/retry', { filter: { user: 'bob' } }, ann);
    expect([named.status, named.body.error.param]).toEqual([403, 'user']);
    await shared.close();
  });

  test('at the limit of queued jobs of a tenant the rest is refused', async () => {
    const ids = await failedJobs(3);
    const [counted] = await api.database.db.execute<{ queued: number }>(
      sql`select count(*)::int as queued from jobs where status in ('queued', 'delayed')`,
    );
    await api.database.db.execute(
      sql`update tenants set limits = jsonb_build_object('queued_jobs', ${(counted?.queued ?? 0) + 2}::int)`,
    );
    const limited = await openApi({}, api.databaseUrl);
    try {
      const { body } = await limited.post('/api/jobs/retry', { ids });
      expect(codesOf(body).filter((code) => code !== null)).toEqual(['quota_exceeded']);
      expect([body.retried, body.refused]).toEqual([2, 1]);
    } finally {
      await limited.close();
      await api.database.db.execute(sql`update tenants set limits = '{}'`);
    }
  });
});
