// A question over HTTP: how a client sees it, every way to answer it, and every refusal.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import type { ProcessId, ToolCallId } from '../../../src/core/ids.ts';
import { LIMITS } from '../../../src/core/limits.ts';
import type { Json } from '../../../src/core/json.ts';
import { PROTOTYPE_NAMES } from '../fuzz/hostile.ts';
import { OUTSIDE, addProcess, take, type ManualWorker } from '../manual-worker.ts';
import { ids, openApi, type Answer, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
let context: string;
let job: string;
let manual: ManualWorker;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_QUEUE_LIMIT: '3' });
  owner = await addProcess(api, { tools: ['ask_user'] });
});
beforeEach(async () => {
  context = (await api.worker({ model: 'simulated/x' })).context_id;
  job = (await post({ content: 'order' })).body.job_id;
  manual = await take(api, context as never, owner, OUTSIDE);
  await manual.admit();
  api.wakeUps.splice(0);
});
afterAll(() => api.close());

const post = (body: object) => api.post(`/api/contexts/${context}/messages`, body);
const answer = (call: string, body: object, headers?: Record<string, string>): Promise<Answer> =>
  api.post(`/api/contexts/${context}/tools/${call}/result`, body, headers);
const state = async (): Promise<Body> => (await api.get(`/api/contexts/${context}/state`)).body;
const later = (): number => Date.now() + 86_400_000;

/** The model asks; no other work is left. */
async function ask(...calls: [name: string, input: Json][]): Promise<ToolCallId[]> {
  const uses = calls.map(([name, input]) => ({
    type: 'tool_use' as const,
    id: ids.next<ToolCallId>(),
    name,
    input,
  }));
  await manual.answer(uses);
  await manual.awaitCalls(later());
  return uses.map(({ id }) => id);
}
const question = async (text = 'Which size?', choices: Json = ['S', 'M']) =>
  (await ask(['ask_user', { question: text, choices }]))[0] ?? '';

describe('a question', () => {
  test('is shown by the state, by the job, by its message and by the timeline', async () => {
    const call = await question();
    const waiting_for = [{ kind: 'input', tool_call_id: call, name: 'ask_user' }];
    const found = await state();
    expect(found).toMatchObject({ state: 'AwaitingInput', job_id: job, waiting_for, queue_position: null });
    expect(found.why).toMatch(/^The job waits for an answer to a question \(since 2.*Z\): Which size\?$/);
    expect((await api.get(`/api/jobs/${job}`)).body).toMatchObject({ status: 'waiting', waiting_for });
    expect((await api.get(`/api/jobs?status=waiting&context_id=${context}`)).body.data).toMatchObject([
      { waiting_for },
    ]);
    const { body } = await api.get(`/api/contexts/${context}/messages`);
    expect(body.data.at(-1)).toMatchObject({ role: 'assistant', type: 'question' });
    const { body: steps } = await api.get(`/api/jobs/${job}/steps`);
    expect(steps.data.at(-1)).toMatchObject({
      kind: 'tool',
      name: 'ask_user',
      status: 'waiting',
      ended_at: null,
    });
  });

  test('is answered by the endpoint; the answer enters history under the returned id, which is that of the call', async () => {
    const call = await question();
    const { status, body } = await answer(call, { content: 'M' });
    expect(status).toBe(202);
    expect(body).toMatchObject({ job_id: job, message_id: call, context_id: context, status: 'waiting' });
    expect(body.stream_url).toMatch(/events\?after=\d+$/);
    expect(api.wakeUps).toMatchObject([{ contextId: context }]);
    expect(await state()).toMatchObject({
      waiting_for: [],
      why: expect.stringMatching(/free worker process/),
    });
    manual = await take(api, context as never, owner, OUTSIDE);
    await manual.endWaits();
    expect((await api.get(`/api/contexts/${context}/messages/${body.message_id}`)).body).toMatchObject({
      role: 'tool',
      type: 'tool_result',
      content: [{ type: 'tool_result', tool_use_id: call, content: 'M', is_error: false }],
    });
    expect(await state()).toMatchObject({ state: 'AwaitingLLMResponse' });
  });

  test('is answered by a plain input, with or without a key, also of its worker', async () => {
    await question();
    const headers = { 'idempotency-key': v7() };
    const once = await api.post(`/api/contexts/${context}/messages`, { content: 'M' }, headers);
    expect(once.body).toMatchObject({ job_id: job, status: 'waiting' });
    const again = await api.post(`/api/contexts/${context}/messages`, { content: 'M' }, headers);
    expect(again.body).toEqual(once.body);
    const next = await post({ content: 'thanks' });
    expect(next.body.job_id).not.toBe(job);
  });

  test('blocks are an answer too, except documents, which no result can contain', async () => {
    await question();
    const document = { type: 'document', source: { type: 'url', url: 'https://x.test/a.pdf' } };
    const queued = await post({ content: [{ type: 'text', text: 'see' }, document] });
    expect(queued.body.job_id).not.toBe(job);
    const image = { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } };
    const answered = await post({ content: [{ type: 'text', text: 'this' }, image] });
    expect(answered.body.job_id).toBe(job);
    manual = await take(api, context as never, owner, OUTSIDE);
    await manual.endWaits();
    const { body } = await api.get(`/api/contexts/${context}/messages/${answered.body.message_id}`);
    expect(body.content[0].content).toEqual([{ type: 'text', text: 'this' }, image]);
  });

  test.each([
    ['a priority', { priority: 4 }],
    ['steer', { delivery: 'steer' }],
  ])('is not answered by an input with %s', async (_, more) => {
    const call = await question();
    await post({ content: 'M', ...more });
    expect((await state()).waiting_for).toMatchObject([{ tool_call_id: call }]);
  });

  test('is answered by an input with its branch, and not by one with another branch', async () => {
    const call = await question();
    await api.post(`/api/contexts/${context}/branches`, { name: 'other' });
    expect((await post({ content: 'elsewhere', branch: 'other' })).body.job_id).not.toBe(job);
    expect((await state()).waiting_for).toMatchObject([{ tool_call_id: call }]);
    expect((await post({ content: 'M', branch: 'main' })).body.job_id).toBe(job);
  });

  test('does not make an input that may be rejected an answer', async () => {
    await question();
    const { status, body } = await post({ content: 'M', delivery: 'reject' });
    expect([status, body.error.code]).toEqual([409, 'context_busy']);
  });

  test('is answered where the queue is full', async () => {
    await question();
    for (let n = 0; n < 3; n += 1) await post({ content: 'more', priority: 9 });
    expect((await post({ content: 'more', priority: 9 })).body.error.code).toBe('queue_full');
    expect((await post({ content: 'M' })).body.job_id).toBe(job);
    expect((await post({ content: 'more' })).body.error.code).toBe('queue_full');
  });

  test('is answered with no more text than a tool result may have; the rest is cut, with a note', async () => {
    const call = await question();
    const { body } = await answer(call, { content: 'x'.repeat(LIMITS.toolResult + 5) });
    manual = await take(api, context as never, owner, OUTSIDE);
    await manual.endWaits();
    const { body: stored } = await api.get(`/api/contexts/${context}/messages/${body.message_id}`);
    const [{ content }] = stored.content;
    expect(content).toHaveLength(LIMITS.toolResult + content.length - content.lastIndexOf('x') - 1);
    expect(content).toMatch(/\[Truncated: 5 of \d+ characters were omitted\.\]$/);
  });

  test('several are answered in any order', async () => {
    const [size = '', colour = ''] = await ask(
      ['ask_user', { question: 'Size?' }],
      ['ask_user', { question: 'Colour?' }],
    );
    expect((await state()).why).toMatch(/Size\?; and for an answer .*Colour\?$/);
    await answer(colour, { content: 'red' });
    expect((await state()).waiting_for).toEqual([{ kind: 'input', tool_call_id: size, name: 'ask_user' }]);
    expect((await post({ content: 'M' })).body.job_id).toBe(job);
    manual = await take(api, context as never, owner, OUTSIDE);
    await manual.endWaits();
    const { body } = await api.get(`/api/contexts/${context}/messages`);
    expect(body.data.slice(-2).map((message: Body) => message.content[0].content)).toEqual(['M', 'red']);
  });

  test("a client's tool is shown by its name, and may fail", async () => {
    const [call = ''] = await ask(['locate', { who: 'me' }]);
    expect((await state()).why).toMatch(/^The job waits for the client to post the result of locate/);
    expect((await post({ content: 'hello?' })).body.job_id).not.toBe(job);
    expect((await answer(call, { content: 'no signal', is_error: true })).status).toBe(202);
    manual = await take(api, context as never, owner, OUTSIDE);
    await manual.endWaits();
    const { body } = await api.get(`/api/jobs/${job}/steps`);
    expect(body.data).toContainEqual(expect.objectContaining({ name: 'locate', status: 'failed' }));
  });
});

describe('a result is refused', () => {
  test('of a call that was answered, or is over', async () => {
    const call = await question();
    const headers = { 'idempotency-key': v7() };
    const first = await answer(call, { content: 'M' }, headers);
    expect((await answer(call, { content: 'M' }, headers)).body).toEqual(first.body);
    const second = await answer(call, { content: 'L' });
    expect([second.status, second.body.error.code]).toEqual([409, 'not_waiting']);
    expect(second.headers['x-should-retry']).toBe('false');
    manual = await take(api, context as never, owner, OUTSIDE);
    await manual.endWaits();
    const third = await answer(call, { content: 'L' });
    expect([third.status, third.body.error.code]).toEqual([409, 'not_waiting']);
  });

  test('of a call whose job has a stop request', async () => {
    const call = await question();
    await api.post(`/api/jobs/${job}/cancel`);
    expect((await answer(call, { content: 'M' })).body.error.code).toBe('not_waiting');
  });

  test('of a call that the platform runs', async () => {
    const call = ids.next<ToolCallId>();
    await manual.answer([{ type: 'tool_use', id: call, name: 'look', input: {} }]);
    const { status, body } = await answer(call, { content: 'x' });
    expect([status, body.error.code]).toEqual([422, 'invalid_request']);
  });

  test('of a call, or in a context, that does not exist', async () => {
    const call = await question();
    const other = (await api.worker()).context_id;
    for (const path of [
      `/api/contexts/${context}/tools/${v7()}/result`,
      `/api/contexts/${context}/tools/x/result`,
      `/api/contexts/${other}/tools/${call}/result`,
      `/api/contexts/${v7()}/tools/${call}/result`,
    ]) {
      expect((await api.post(path, { content: 'M' })).status).toBe(404);
    }
  });

  test.each([
    {},
    { content: 5 },
    { content: [] },
    { content: [{ type: 'document', source: { type: 'url', url: 'https://x.test' } }] },
    { content: [{ type: 'tool_result' }] },
    { content: 'M', is_error: 'yes' },
    { content: 'M', note: 'x' },
  ])('%j', async (body) => {
    expect((await answer(v7(), body)).status).toBe(422);
  });
});

describe("tools of a client's", () => {
  const tool = (over: object = {}) => ({
    name: 'locate',
    description: 'Where the user is.',
    input_schema: { type: 'object', properties: { who: { type: 'string' } } },
    ...over,
  });

  test('are kept as they were written, and removed', async () => {
    const { id } = await api.worker({ client_tools: [tool()] });
    const { body } = await api.get(`/api/workers/${id}`);
    expect(body.config.client_tools).toEqual([tool()]);
    const patched = await api.call('PATCH', `/api/workers/${id}`, { config: { client_tools: null } });
    expect(patched.body.config).toEqual({});
  });

  test.each<[object[], string]>([
    [[tool({ name: 'a b' })], 'config.client_tools.0.name'],
    [[tool({ description: '' })], 'config.client_tools.0.description'],
    [[tool(), tool()], 'config.client_tools.1.name'],
    [[tool({ name: 'ask_user' })], 'config.client_tools.0.name'],
    [[tool({ input_schema: { type: 'string' } })], 'config.client_tools.0.input_schema.type'],
    [[tool({ input_schema: {} })], 'config.client_tools.0.input_schema.type'],
    [[tool({ input_schema: { type: 'object', required: 'x' } })], 'config.client_tools.0.input_schema'],
    [[tool({ input_schema: { type: 'object', $schema: 'x' } })], 'config.client_tools.0.input_schema'],
    ...PROTOTYPE_NAMES.map(($schema): [object[], string] => [
      [tool({ input_schema: { type: 'object', $schema } })],
      'config.client_tools.0.input_schema',
    ]),
    [[tool({ effect: 'none' })], 'config.client_tools.0.effect'],
  ])('%j are refused', async (client_tools, param) => {
    const { status, body } = await api.post('/api/workers', { name: 'w', config: { client_tools } });
    expect(status).toBe(422);
    expect(body.error).toMatchObject({ code: 'invalid_request', param });
  });
});
