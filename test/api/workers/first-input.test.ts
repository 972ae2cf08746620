// A worker that is created with its first input: worker, context, input and job, all or nothing.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import type { ContextId, ProcessId } from '../../../src/core/ids.ts';
import { tagOf } from '../../services/statements.ts';
import { openApi, type Api, type Body } from '../harness.ts';
import { addProcess, take } from '../manual-worker.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_QUEUE_LIMIT: '1' });
  owner = await addProcess(api);
});
afterAll(() => api.close());

const begin = (body: object = {}, headers: Record<string, string> = {}) =>
  api.post('/api/workers', { name: 'ada', input: { content: 'hello' }, ...body }, headers);

/** How many rows each table has that a worker with an input has a row in. */
async function stored(): Promise<Body> {
  const [row] = await api.database.db.execute(sql`select (select count(*)::int from workers) as workers,
    (select count(*)::int from contexts) as contexts, (select count(*)::int from branches) as branches,
    (select count(*)::int from messages) as messages, (select count(*)::int from jobs) as jobs`);
  return row;
}

/** The tags of the statements that were sent since, but for reads of what worker processes serve. */
const sent = (): (string | null)[] => api.statements.map(tagOf).filter((tag) => tag !== 'processes.read_published');

describe('a worker with a first input', () => {
  test('is answered with its job, its message and the stream of both', async () => {
    api.wakeUps.length = 0;
    const config = { model: 'simulated/x', idle_timeout_s: 60 };
    const metadata = { ticket: 7, note: 'a\0b \uF8FE' };
    const deadline = '2100-01-01T00:00:00.000Z';
    const input = { content: 'hello \0', priority: 2, metadata, max_steps: 9, deadline };
    const { status, headers, body } = await begin({ name: 'ada \uF8FE', config, input });
    expect(status).toBe(201);
    expect(headers).toMatchObject({ etag: '"1"', location: `/api/workers/${body.id}` });
    const { job_id, message_id, stream_url, ...worker } = body;
    expect(worker).toMatchObject({ name: 'ada \uF8FE', config, state: 'working', parent_worker_id: null, depth: 0 });
    expect((await api.get(`/api/workers/${worker.id}`)).body).toEqual(worker);
    expect(stream_url).toBe(`/api/contexts/${worker.context_id}/events?after=0`);
    expect(api.wakeUps).toEqual([{ contextId: worker.context_id, wakeSeq: 1, epoch: 0 }]);
    const job = await api.get(`/api/jobs/${job_id}`);
    expect(job.body).toMatchObject({ kind: 'input', status: 'queued', worker_id: worker.id, metadata });
    const [message] = (await api.get(`/api/contexts/${worker.context_id}/messages`)).body.data;
    expect(message).toMatchObject({ id: message_id, job_id, status: 'queued', branch: 'main' });
    expect(message.content).toEqual([{ type: 'text', text: 'hello \0' }]);
    const [row] = await api.database.db.execute(sql`
      select priority, max_steps, deadline = ${deadline}::timestamptz as deadline from jobs where id = ${job_id}`);
    expect(row).toEqual({ priority: 2, max_steps: 9, deadline: true });
  });

  test('has the same rows as one that is created and then gets its input', async () => {
    const together = (await begin()).body;
    const first = await api.worker();
    const { body: accepted } = await api.post(`/api/workers/${first.id}/messages`, { content: 'hello' });
    const rowsOf = async (contextId: string, jobId: string): Promise<unknown[]> => {
      const own = sql`'{id,context_id,worker_id,job_id,message_id,name,created_at,updated_at,state_since,next_check_at,trace_parent,first_input}'::text[]`;
      const [row] = await api.database.db.execute(sql`
        select to_jsonb(c) - ${own} as context, to_jsonb(w) - ${own} as worker, to_jsonb(b) - ${own} as branch,
          to_jsonb(j) - ${own} as job, to_jsonb(m) - ${own} as message,
          c.next_check_at between clock_timestamp() - interval '1 minute' and clock_timestamp() + interval '1 second' as due,
          -- Each request has a span of its own.
          j.trace_parent ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-01$' as traced
        from contexts c join workers w on w.context_id = c.id join branches b on b.context_id = c.id
          join jobs j on j.context_id = c.id and j.worker_id = w.id join messages m on m.id = j.message_id and m.job_id = j.id
        where c.id = ${contextId} and j.id = ${jobId}`);
      return Object.values(row ?? {});
    };
    const rows = await rowsOf(together.context_id, together.job_id);
    expect(rows).toHaveLength(7);
    expect(rows.slice(-2)).toEqual([true, true]);
    expect(rows).toEqual(await rowsOf(first.context_id, accepted.job_id));
  });

  test('names its context at once, unless it is edited or withdrawn before it is in the history', async () => {
    const named = async (contextId: string): Promise<unknown> =>
      (await api.get(`/api/contexts/${contextId}`)).body.first_input;
    const [plain, edited, withdrawn, cancelled] = [await begin(), await begin(), await begin(), await begin()].map(
      ({ body }) => body,
    );
    expect(await named(plain.context_id)).toBe('hello');
    const input = ({ context_id: id, message_id: message }: typeof plain): string =>
      `/api/contexts/${id}/messages/${message}`;
    await api.call('PATCH', input(edited), { content: 'something else' });
    await api.call('DELETE', input(withdrawn));
    await api.post(`/api/jobs/${cancelled.job_id}/cancel`);
    for (const { context_id: id } of [edited, withdrawn, cancelled]) expect(await named(id)).toBeNull();
  });

  test('is run by a worker process, and takes a second input', async () => {
    const { body } = await begin();
    const manual = await take(api, body.context_id as ContextId, owner);
    await manual.admit();
    await manual.complete('Hello.');
    expect((await api.get(`/api/jobs/${body.job_id}`)).body).toMatchObject({
      status: 'completed',
      output: { text: 'Hello.' },
    });
    expect((await api.post(`/api/workers/${body.id}/messages`, { content: 'more' })).status).toBe(202);
  });

  test('has used a place of the queue', async () => {
    const { body } = await begin();
    const refused = await api.post(`/api/workers/${body.id}/messages`, { content: 'more' });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'queue_full']);
  });

  test('is logged with its job', async () => {
    api.lines.length = 0;
    const { body } = await begin();
    expect(api.lines.filter((line) => line['job_id'] === body.job_id)).toHaveLength(1);
  });

  test('may have a parent, which counts it', async () => {
    const parent = await api.worker({ limits: { children: 1 } });
    const { status, body } = await begin({ parent_worker_id: parent.id });
    expect(status).toBe(201);
    expect(body).toMatchObject({ parent_worker_id: parent.id, depth: 1, config: { limits: { children: 1 } } });
    const { body: tree } = await api.get(`/api/workers/${parent.id}/tree`);
    expect(tree.children).toMatchObject([{ id: body.id, job: { id: body.job_id, status: 'queued' } }]);
    const before = await stored();
    const refused = await begin({ parent_worker_id: parent.id });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'worker_limit']);
    expect(await stored()).toEqual(before);
  });
});

test('what is refused leaves nothing behind, and sends no wake-up', async () => {
  const before = await stored();
  api.wakeUps.length = 0;
  for (const [body, code, param] of [
    [{ input: { content: '' } }, 'invalid_request', 'input.content'],
    [{ input: { content: 'x', delivery: 'queue' } }, 'invalid_request', 'input.delivery'],
    [{ input: { content: 'x', branch: 'main' } }, 'invalid_request', 'input.branch'],
    [{ input: { content: 'x', colour: 'red' } }, 'invalid_request', 'input.colour'],
    [{ input: { content: 'x', metadata: { a: 'x'.repeat(70_000) } } }, 'invalid_request', 'input.metadata'],
    [{ config: { max_steps: 0 } }, 'invalid_request', 'config.max_steps'],
    [{ config: { model: 'anthropic/x' } }, 'unknown_model', 'config.model'],
    [{ config: { tools: ['look'] } }, 'unknown_tool', 'config.tools'],
    [{ role: 'nobody' }, 'unknown_role', 'role'],
    [{ parent_worker_id: v7() }, 'not_found', 'parent_worker_id'],
  ] as const) {
    const refused = await begin(body);
    expect(refused.status).toBe(code === 'not_found' ? 404 : 422);
    expect(refused.body.error).toMatchObject({ code, param });
  }
  expect((await begin({ input: { content: 'x', branch: 'main' } })).body.error.message).toBe(
    'Unknown field `input.branch`. Known fields: content, priority, metadata, max_steps, output_schema, deadline, after_s, at, webhook.',
  );
  expect(await stored()).toEqual(before);
  expect(api.wakeUps).toEqual([]);
});

test('a worker whose job cannot be stored is not stored either', async () => {
  const before = await stored();
  const { db } = api.database;
  await db.execute(sql`alter table jobs add constraint no_job check (priority <> 9)`);
  try {
    expect((await begin({ input: { content: 'x', priority: 9 } })).status).toBe(500);
  } finally {
    await db.execute(sql`alter table jobs drop constraint no_job`);
  }
  expect(await stored()).toEqual(before);
});

describe('the cost', () => {
  test('is one statement, with and without an input', async () => {
    api.statements.length = 0;
    await begin();
    await api.post('/api/workers', { name: 'w' });
    expect(sent()).toEqual(['workers.create', 'workers.create']);
  });

  test('with a parent is a transaction: the lock, then a later statement that counts, then the write', async () => {
    const parent = await api.worker();
    api.statements.length = 0;
    await begin({ parent_worker_id: parent.id });
    expect(api.statements[0]).toBe('begin');
    expect(api.statements.at(-1)).toBe('commit');
    expect(sent().slice(1, -1)).toEqual(['workers.hold', 'workers.read_parent', 'workers.create']);
  });

  test('with a key is a transaction that begins with the row of the key', async () => {
    api.statements.length = 0;
    await begin({}, { 'idempotency-key': v7() });
    const texts = api.statements.filter((text) => tagOf(text) !== 'processes.read_published');
    expect(texts.map((text) => tagOf(text) ?? text.slice(0, 20))).toEqual([
      'begin',
      'idempotency_keys.take',
      'workers.create',
      'update "idempotency_',
      'commit',
    ]);
  });
});

test('repeated under its key, it is created once, and every response is the same', async () => {
  const before = await stored();
  const key = { 'idempotency-key': v7() };
  const answers = await Promise.all([1, 2, 3].map(() => begin({}, key)));
  answers.push(await begin({}, key));
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  const { workers, jobs } = await stored();
  expect([workers, jobs]).toEqual([before.workers + 1, before.jobs + 1]);
  const other = await begin({ input: { content: 'other' } }, key);
  expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_conflict']);
});

test('does not exist for another tenant, which cannot be its parent', async () => {
  const other = await openApi({ NIGHTSHIFT_API_KEYS: 'a:one,b:two' });
  try {
    const as = (key: string) => ({ authorization: `Bearer ${key}` });
    const mine = { name: 'ada', input: { content: 'hello' } };
    const { body } = await other.post('/api/workers', mine, as('a'));
    for (const path of [`workers/${body.id}`, `jobs/${body.job_id}`, `contexts/${body.context_id}`]) {
      expect((await other.get(`/api/${path}`, as('a'))).status).toBe(200);
      expect((await other.get(`/api/${path}`, as('b'))).status).toBe(404);
    }
    const refused = await other.post('/api/workers', { ...mine, parent_worker_id: body.id }, as('b'));
    expect(refused.body.error).toMatchObject({ code: 'not_found', param: 'parent_worker_id' });
    expect((await other.get('/api/workers', as('b'))).body.data).toEqual([]);
  } finally {
    await other.close();
  }
});
