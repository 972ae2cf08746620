// A context that begins with copies of another one's messages. No worker process runs jobs here: `take` takes its
// place.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ContextId, ProcessId, ToolCallId } from '../../../src/core/ids.ts';
import { tagOf } from '../../services/statements.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { ids, openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api);
});
afterAll(() => api.close());

const at = (id: string, rest = '') => `/api/contexts/${id}${rest}`;
const listed = async (id: string, query = ''): Promise<Body[]> =>
  (await api.get(at(id, `/messages${query}`))).body.data;
const line = async (id: string, query = ''): Promise<string[]> =>
  (await listed(id, query)).map(({ turn, content }) => `${turn} ${content[0].text ?? content[0].type}`);
const fork = (id: string, body: object = {}) => api.post(at(id, '/fork'), body);

/** Two turns, of which the first calls two tools. */
async function conversation(): Promise<string> {
  const { context_id: id } = await api.worker({ max_steps: 7 });
  await api.post(at(id, '/messages'), { content: 'one' });
  const manual = await take(api, id, owner);
  await manual.admit();
  await manual.answer(
    [1, 2].map((n) => ({ type: 'tool_use', id: ids.next<ToolCallId>(), name: 'look', input: { n } }) as const),
  );
  await manual.results('seen');
  await manual.complete('eins');
  await converse(api, id as ContextId, owner, 'two', 'zwei');
  return id;
}

/** Calls by their ids, in order, and the results that name them. */
function traffic(messages: Body[]): { calls: string[]; results: string[] } {
  const blocks: Body[] = messages.flatMap(({ content }) => content);
  return {
    calls: blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : [])),
    results: blocks.flatMap(({ type, tool_use_id: id }) => (type === 'tool_result' ? [id] : [])),
  };
}

test('has copies under new ids, numbered without gaps; calls keep their results, under their ids', async () => {
  const id = await conversation();
  const { status, headers, body } = await fork(id, { title: 'copy' });
  expect(status).toBe(201);
  expect(headers).toMatchObject({ etag: '"1"', location: at(body.id) });
  expect(body).toMatchObject({
    parent_id: id,
    title: 'copy',
    config: { max_steps: 7 },
    state: 'Idle',
    branches: ['main'],
    message_count: 7,
    turn_count: 2,
    request_count: 0,
    usage: { input_tokens: 0, output_tokens: 0 },
  });
  expect(body.worker_id).not.toBe((await api.get(at(id))).body.worker_id);
  expect((await api.get(`/api/workers/${body.worker_id}`)).body).toMatchObject({
    name: 'w',
    context_id: body.id,
  });
  const [originals, copies] = [await listed(id), await listed(body.id)];
  expect(copies.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(await line(body.id)).toEqual(await line(id));
  const same = ({ role, type, turn, usage, model_id, created_at, completed_at }: Body) => ({
    role,
    type,
    turn,
    usage,
    model_id,
    created_at,
    completed_at,
  });
  expect(copies.map(same)).toEqual(originals.map(same));
  expect(copies.map(({ job_id }) => job_id)).toEqual(copies.map(() => null));
  const old = new Set([...originals.map((message) => message.id), ...traffic(originals).calls]);
  const { calls, results } = traffic(copies);
  expect(calls).toHaveLength(2);
  expect(results).toEqual(calls);
  expect(copies.filter(({ role }) => role === 'tool').map((message) => message.id)).toEqual(calls);
  const copied = (await api.get(at(body.id, `/tools/${calls[0]}`))).body;
  expect(copied.result_message_id).toBe(calls[0]);
  for (const copy of [...copies.map((message) => message.id), ...calls]) expect(old.has(copy)).toBe(false);
  const stored = await api.database.db.execute<Body>(
    sql`select id, message_id, name, status from calls where context_id = ${body.id} order by ordinal`,
  );
  expect(stored).toEqual(
    calls.map((call) => ({ id: call, message_id: copies[1].id, name: 'look', status: 'completed' })),
  );
  expect((await api.get(at(body.id, '/branches'))).body.data).toMatchObject([{ length: 7, message_count: 7 }]);
  expect((await api.get(at(id))).body.parent_id).toBeNull();
});

test('continues by itself', async () => {
  const id = await conversation();
  const { body } = await fork(id);
  await converse(api, body.id, owner, 'three', 'drei');
  expect((await line(body.id)).slice(5)).toEqual(['u2 two', 'a2 zwei', 'u3 three', 'a3 drei']);
  expect(await line(id)).toHaveLength(7);
  const again = await fork(body.id);
  expect(await line(again.body.id)).toEqual(await line(body.id));
});

test('starts from a message of any branch, with the results of its calls', async () => {
  const id = await conversation();
  const messages = await listed(id);
  expect(await line((await fork(id, { from_message_id: messages[1].id })).body.id)).toEqual(
    (await line(id)).slice(0, 4),
  );
  const { body: edit } = await api.post(at(id, `/messages/${messages[5].id}/edit`), { content: 'deux' });
  const manual = await take(api, id as ContextId, owner);
  await manual.admit();
  await manual.complete('zwo');
  expect(await line((await fork(id)).body.id)).toEqual(await line(id, `?branch=${edit.branch}`));
  const other = await fork(id, { from_message_id: messages[6].id });
  expect((await line(other.body.id)).slice(-2)).toEqual(['u2 two', 'a2 zwei']);
});

test('while a job runs has the complete messages', async () => {
  const id = await conversation();
  const { body: posted } = await api.post(at(id, '/messages'), { content: 'three' });
  const manual = await take(api, id as ContextId, owner);
  await manual.admit();
  await manual.answer([{ type: 'tool_use', id: ids.next<ToolCallId>(), name: 'look', input: {} }]);
  expect(await line((await fork(id)).body.id)).toEqual((await line(id)).slice(0, 7));
  const refused = await fork(id, { from_message_id: posted.message_id });
  expect([refused.status, refused.body.error.code]).toEqual([409, 'context_busy']);
});

test('does not copy retracted messages; it copies compacted ones', async () => {
  const id = await conversation();
  await api.post(at(id, '/messages'), { content: 'no' });
  await api.post(at(id, '/interrupt'), { mode: 'rollback' });
  const [, , , result] = await listed(id);
  const head = await api.database.db.execute<{ n: number }>(
    sql`update contexts set head_seq = head_seq + 1 where id = ${id} returning head_seq as n`,
  );
  const seq = head[0]?.n ?? 0;
  const compaction = ids.next();
  await api.database.db.execute(sql`
    insert into compactions (id, tenant_id, context_id, branch, seq, upto_seq, type, summary, tokens_before, tokens_after, job_id)
    values (${compaction}, 1, ${id}, 'main', ${seq}, ${result.seq}, 'llm', 'so far', 9, 1, ${ids.next()})`);
  await api.database.db.execute(sql`
    insert into event_batches (context_id, tenant_id, first_seq, seq, epoch, events) values (${id}, 1, ${seq}, ${seq}, 0,
      ${JSON.stringify([[0, 'ContextCompacted', { compaction_id: compaction, branch: 'main', upto_seq: result.seq }]])}::json)`);
  const { body } = await fork(id);
  expect(await line(body.id)).toEqual(await line(id));
  const [copied] = await api.database.db.execute<Body>(
    sql`select id, branch, seq, upto_seq, summary from compactions where context_id = ${body.id}`,
  );
  expect(copied).toMatchObject({ branch: 'main', seq: 8, upto_seq: 4, summary: 'so far' });
  expect(copied.id).not.toBe(compaction);
  const events = await api.database.db.execute<Body>(
    sql`select seq, name, data from events where context_id = ${body.id}`,
  );
  expect(events).toEqual([
    { seq: 8, name: 'ContextCompacted', data: { compaction_id: copied.id, branch: 'main', upto_seq: 4 } },
  ]);
});

test('of an empty context is empty', async () => {
  const { context_id: id } = await api.worker();
  const { status, body } = await fork(id);
  expect([status, body.message_count, body.turn_count]).toEqual([201, 0, 0]);
});

test('is made once for one idempotency key', async () => {
  const id = await conversation();
  const headers = { 'idempotency-key': `fork-${id}` };
  const first = await api.post(at(id, '/fork'), {}, headers);
  const again = await api.post(at(id, '/fork'), {}, headers);
  expect(again).toMatchObject({ status: 201, body: first.body, headers: { etag: '"1"' } });
  const made = await api.database.db.execute(sql`select id from workers where parent_context_id = ${id}`);
  expect(made).toHaveLength(1);
});

test.each([
  [{ from_message_id: 'x' }, 422, 'from_message_id'],
  [{ from_message_id: '01900000-0000-7000-8000-000000000000' }, 404, 'from_message_id'],
  [{ title: 5 }, 422, 'title'],
  [{ from_branch: 'main' }, 422, 'from_branch'],
])('with %j is refused', async (body, status, param) => {
  const { context_id: id } = await api.worker();
  const refused = await fork(id, body);
  expect([refused.status, refused.body.error.param]).toEqual([status, param]);
});

test('from a cleared message is refused, and the error names the field', async () => {
  const id = await conversation();
  const [first] = await listed(id);
  await api.post(at(id, '/clear'));
  const refused = await fork(id, { from_message_id: first.id });
  expect([refused.status, refused.body.error.param]).toEqual([404, 'from_message_id']);
});

test('of ten thousand messages is one statement and delays no others', async () => {
  const id = await conversation();
  await api.database.db.execute(sql`
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, completed_at)
    select gen_random_uuid(), 1, ${id}, 'main', 1000 + n, case when n % 2 = 0 then 'user' else 'assistant' end, 'text',
      case when n % 2 = 0 then 'u' else 'a' end || (3 + n / 2), 'completed',
      jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat('x', 500))), now()
    from generate_series(0, 9999) n`);
  await api.database.db.execute(sql`update contexts set head_seq = 11000 where id = ${id}`);
  api.statements.length = 0;
  const { body } = await fork(id);
  expect(body).toMatchObject({ message_count: 10_007, turn_count: 5_002 });
  expect(api.statements.filter((text) => tagOf(text) === 'contexts.fork')).toHaveLength(1);
  expect(api.statements.join('\n')).not.toMatch(/update contexts|for no key update/);
});
