// Lists of messages with their tool calls: what a client of a chat would otherwise request one by one.
import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProcessId, ToolCallId } from '../../../src/core/ids.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { ids, isQuery, openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api);
});
afterAll(() => api.close());

/** A context whose answer requested so many calls, which wait for approval. */
async function waiting(count: number): Promise<{ context: string; calls: ToolCallId[] }> {
  const { context_id: context } = await api.worker();
  await api.post(`/api/contexts/${context}/messages`, { content: 'write' });
  const manual = await take(api, context, owner);
  await manual.admit();
  const calls = Array.from({ length: count }, () => ids.next<ToolCallId>());
  await manual.answer(calls.map((id, at) => ({ type: 'tool_use', id, name: 'mail', input: { at } })));
  await manual.askApproval();
  await manual.awaitCalls(Date.now() + 86_400_000);
  return { context, calls };
}

const list = async (context: string, query: string): Promise<Body> =>
  (await api.get(`/api/contexts/${context}/messages${query}`)).body;
const callsIn = ({ data }: Body): Body[] => data.flatMap((message: Body) => message.tool_calls);

test('each message has the calls that it requested, as their own address shows them, without the input', async () => {
  const { context, calls } = await waiting(3);
  const [first] = calls;
  const decision = { tool_call_id: first, decision: 'approve', reason: 'fine', input: { at: 'noon' } };
  expect((await api.post(`/api/contexts/${context}/tools/approve`, decision)).status).toBe(200);
  const { data } = await list(context, '?include=tool_calls');
  expect(data.map((message: Body) => [message.role, message.tool_calls.length])).toEqual([
    ['user', 0],
    ['assistant', 3],
  ]);
  const shown = callsIn({ data });
  expect(shown.map(({ id }) => id)).toEqual(calls);
  for (const call of shown) {
    const { input, run_input, ...rest } = (await api.get(`/api/contexts/${context}/tools/${call.id}`)).body;
    expect([call, typeof input, typeof run_input]).toEqual([rest, 'object', 'object']);
  }
  expect(shown[0]).toMatchObject({ status: 'pending', approval: { reason: 'fine', input: { at: 'noon' } } });
  expect(shown[1]).toMatchObject({ status: 'waiting', waits_for: 'approval', message_id: data[1].id });
});

test('a call that ended has its result', async () => {
  const { context_id: context } = await api.worker();
  await api.post(`/api/contexts/${context}/messages`, { content: 'look' });
  const manual = await take(api, context, owner);
  await manual.admit();
  await manual.answer([{ type: 'tool_use', id: v7() as ToolCallId, name: 'find', input: {} }]);
  await manual.results('found');
  await manual.complete('there it is');
  const { data } = await list(context, '?include=tool_calls');
  const result = data.find((message: Body) => message.role === 'tool');
  expect(callsIn({ data })).toMatchObject([{ status: 'completed', result_message_id: result.id }]);
});

test('a list without them has none', async () => {
  const { context } = await waiting(1);
  for (const query of ['', '?include=retracted,compacted'])
    for (const message of (await list(context, query)).data) expect(message).not.toHaveProperty('tool_calls');
});

test.each(['?include=tool_calls,retracted', '?include=retracted&include=tool_calls', '?include=tool_calls'])(
  'they are asked for beside other messages, with commas or repeated: %s',
  async (query) => {
    const { context } = await waiting(2);
    expect(callsIn(await list(context, query))).toHaveLength(2);
  },
);

test.each(['?include=calls', '?include=tool_calls,calls', '?include='])(
  'an unknown value is refused: %s',
  async (query) => {
    const { context } = await waiting(1);
    const { status, body } = await api.get(`/api/contexts/${context}/messages${query}`);
    expect([status, body.error.param]).toEqual([422, expect.stringMatching(/^include/)]);
  },
);

test('they cost one statement, however many there are, and none where no message requested one', async () => {
  const statements = async (context: string): Promise<number> => {
    api.statements.length = 0;
    await list(context, '?include=tool_calls');
    return api.statements.filter(isQuery).length;
  };
  for (const count of [1, 40]) expect(await statements((await waiting(count)).context)).toBe(2);
  const { context_id: plain } = await api.worker();
  await converse(api, plain, owner, 'hello', 'hi');
  expect(await statements(plain)).toBe(1);
});

test('a page has the calls of its own messages', async () => {
  const { context } = await waiting(2);
  const first = await list(context, '?include=tool_calls&limit=1');
  expect([first.data.length, callsIn(first).length]).toEqual([1, 0]);
  const second = await list(context, `?include=tool_calls&limit=1&cursor=${first.next_cursor}`);
  expect([second.data.length, callsIn(second).length]).toEqual([1, 2]);
});
