// Turns: which messages belong together, found without reading all of history.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { DEFAULT_TENANT, type ContextId, type ProcessId, type ToolCallId } from '../../../src/core/ids.ts';
import { turnEnds } from '../../../src/db/read/messages/turns.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api);
});
afterAll(() => api.close());

const turns = async (id: string, query = ''): Promise<Body> =>
  (await api.get(`/api/contexts/${id}/turns${query}`)).body;
const messages = async (id: string, query = ''): Promise<Body[]> =>
  (await api.get(`/api/contexts/${id}/messages${query}`)).body.data;
const numbers = ({ data }: Body): number[] => data.map(({ number }: Body) => number);

describe('a turn', () => {
  test('groups its input, all its answers, and its calls with their results', async () => {
    const { context_id: id } = await api.worker();
    const { body: posted } = await api.post(`/api/contexts/${id}/messages`, { content: 'look' });
    const manual = await take(api, id, owner);
    await manual.admit();
    const call = v7() as ToolCallId;
    await manual.answer([{ type: 'tool_use', id: call, name: 'find', input: {} }]);
    const open = await turns(id);
    expect(open.data[0].tool_calls).toEqual([
      { id: call, name: 'find', status: 'pending', message_id: expect.any(String), result_message_id: null },
    ]);
    expect(open.data[0].job).toEqual({ id: posted.job_id, status: 'running' });
    await manual.results('found');
    await manual.complete('there it is');
    await converse(api, id, owner, 'thanks', 'welcome');
    const all = await messages(id);
    const of = (turn: string) => all.filter((one) => one.turn === turn).map((one) => one.id);
    const { data, next_cursor } = await turns(id);
    expect(next_cursor).toBeNull();
    expect(data).toEqual([
      {
        number: 1,
        input_message_ids: of('u1'),
        answer_message_ids: of('a1'),
        tool_calls: [
          {
            id: call,
            name: 'find',
            status: 'completed',
            message_id: all[1]?.id,
            result_message_id: all.find(({ role }) => role === 'tool')?.id,
          },
        ],
        job: { id: posted.job_id, status: 'completed' },
      },
      {
        number: 2,
        input_message_ids: of('u2'),
        answer_message_ids: of('a2'),
        tool_calls: [],
        job: { id: expect.any(String), status: 'completed' },
      },
    ]);
    expect(of('a1')).toHaveLength(3);
  });

  test('whose answer was retracted has none, nor has a queued input', async () => {
    const { context_id: id } = await api.worker();
    await converse(api, id, owner, 'one', '1');
    await api.post(`/api/contexts/${id}/messages`, { content: 'two' });
    const manual = await take(api, id, owner);
    await manual.admit();
    await manual.settle({ status: 'failed', error: { code: 'internal', message: 'broken' } });
    await api.post(`/api/contexts/${id}/messages`, { content: 'three' });
    const { data } = await turns(id);
    expect(data).toHaveLength(2);
    expect(data[1]).toMatchObject({ answer_message_ids: [], job: { status: 'failed' } });
  });

  test('is of its branch', async () => {
    const { context_id: id } = await api.worker();
    for (const text of ['one', 'two', 'three']) await converse(api, id, owner, text, text);
    const [, , second] = await messages(id);
    const edited = await api.post(`/api/contexts/${id}/messages/${second?.id}/edit`, { content: 'deux' });
    expect(edited.status).toBe(202);
    const manual = await take(api, id, owner);
    await manual.admit();
    await manual.complete('2');
    const branch = edited.body.branch;
    const there = await turns(id, `?branch=${branch}`);
    expect(numbers(there)).toEqual([1, 2]);
    expect(numbers(await turns(id, '?branch=main'))).toEqual([1, 2, 3]);
    const [main] = (await turns(id, '?branch=main')).data;
    expect(there.data[0]).toEqual(main);
    const texts = async (query: string) => (await messages(id, query)).map(({ content }) => content[0].text);
    expect(await texts(`?branch=${branch}&turn=u2`)).toEqual(['deux']);
    expect(await texts(`?branch=${branch}&turn=a2`)).toEqual(['2']);
    expect(await texts('?branch=main&turn=u2')).toEqual(['two']);
    expect(await texts('?branch=main&turn=a3')).toEqual(['three']);
    expect(await texts(`?branch=${branch}&turn=a3`)).toEqual([]);
    const refused = await api.get(`/api/contexts/${id}/turns?branch=none`);
    expect(refused.status).toBe(404);
  });
});

/** `count` turns of four messages each, with an event behind each and, before turn 3, a retracted one. */
async function long(count: number): Promise<ContextId> {
  const { context_id: id } = await api.worker();
  const { db } = api.database;
  await db.execute(sql`
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, completed_at)
    select gen_random_uuid(), ${DEFAULT_TENANT}, ${id}, 'main', t * 10 + n,
      case n when 1 then 'user' else 'assistant' end, 'text', case n when 1 then 'u' else 'a' end || t, 'completed',
      jsonb_build_array(jsonb_build_object('type', 'text', 'text', t || '.' || n)), now()
    from generate_series(1, ${count}::int) t, generate_series(1, 4) n`);
  await db.execute(sql`
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, completed_at)
    values (gen_random_uuid(), ${DEFAULT_TENANT}, ${id}, 'main', 28, 'user', 'text', 'u3', 'retracted',
      '[{"type": "text", "text": "taken back"}]', now())`);
  await db.execute(sql`update contexts set head_seq = ${count * 10 + 9} where id = ${id}`);
  return id;
}

describe('of a long history', () => {
  test('any turn is found, first, last and in between, and none beyond', async () => {
    const id = await long(57);
    for (const turn of [1, 2, 3, 30, 56, 57]) {
      const found = await messages(id, `?turn=a${turn}`);
      expect(found.map(({ content }) => content[0].text)).toEqual([2, 3, 4].map((n) => `${turn}.${n}`));
      expect(await messages(id, `?turn=u${turn}`)).toHaveLength(1);
    }
    expect(await messages(id, '?turn=a58')).toEqual([]);
    expect(await messages(id, '?turn=u999999999')).toEqual([]);
    const withRetracted = await messages(id, '?turn=u3&include=retracted');
    expect(withRetracted.map(({ content }) => content[0].text)).toEqual(['taken back', '3.1']);
    expect((await messages(id, '?turn=a30&limit=1&order=desc')).map(({ content }) => content[0].text)).toEqual([
      '30.4',
    ]);
  });

  test.each(['asc', 'desc'])('pages of turns meet, %s', async (order) => {
    const id = await long(23);
    const found: number[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Body = await turns(id, `?limit=7&order=${order}${cursor === '' ? '' : `&cursor=${cursor}`}`);
      found.push(...numbers(page));
      for (const { answer_message_ids } of page.data) expect(answer_message_ids).toHaveLength(3);
      cursor = page.next_cursor;
    }
    const all = Array.from({ length: 23 }, (_, index) => index + 1);
    expect(found).toEqual(order === 'asc' ? all : all.toReversed());
  });

  test('few messages are read', async () => {
    const id = await long(5_000);
    const on = {
      contextId: sql`${id}::uuid`,
      tenantId: sql`${DEFAULT_TENANT}::bigint`,
      branch: sql`'main'::text`,
    };
    const [row] = await api.database.db.execute<{ 'QUERY PLAN': Plan[] }>(
      sql`explain (analyze, format json) select ${turnEnds(on, sql`4321::int`)}`,
    );
    const [top] = row?.['QUERY PLAN'] ?? [];
    const looks = top === undefined ? 0 : messagesIn(top.Plan);
    expect(looks).toBeGreaterThan(5);
    expect(looks).toBeLessThan(30);
  });
});

type Plan = { Plan: Node };
type Node = { 'Relation Name'?: string; 'Actual Rows': number; 'Actual Loops': number; Plans?: Node[] };

function messagesIn(node: Node): number {
  const own = node['Relation Name'] === 'messages' ? node['Actual Rows'] * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, child) => sum + messagesIn(child), own);
}

test('a cleared context has no turns, and then new ones', async () => {
  const { context_id: id } = await api.worker();
  await converse(api, id, owner, 'one', '1');
  await converse(api, id, owner, 'two', '2');
  await api.post(`/api/contexts/${id}/clear`);
  expect(await turns(id)).toEqual({ data: [], next_cursor: null });
  expect(await messages(id, '?turn=u1')).toEqual([]);
  await converse(api, id, owner, 'again', 'yes');
  expect(numbers(await turns(id, '?order=desc'))).toEqual([1]);
  expect((await messages(id, '?turn=u1')).map(({ content }) => content[0].text)).toEqual(['again']);
});

test('an invalid cursor of turns is refused', async () => {
  const { context_id: id } = await api.worker();
  for (const query of [
    'cursor=x',
    'limit=0',
    'order=up',
    'turn=a1',
    `cursor=${Buffer.from('["main",0]').toString('base64url')}`,
  ]) {
    expect((await api.get(`/api/contexts/${id}/turns?${query}`)).status).toBe(422);
  }
});
