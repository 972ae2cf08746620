// The text of answers that were not finished, as clients see it: only where they ask for it. No worker process runs jobs
// here: `take` takes its place.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ContextId, ProcessId } from '../../../src/core/ids.ts';
import { indexBacklog } from '../../../src/db/search/search-index.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api);
});
afterAll(() => api.close());

const listed = async (contextId: string, query = ''): Promise<Body[]> =>
  (await api.get(`/api/contexts/${contextId}/messages${query}`)).body.data;
const lines = async (contextId: string, query = ''): Promise<string[]> =>
  (await listed(contextId, query)).map(({ turn, type, content }) => `${turn} ${type} ${content[0].text}`);
const RETRACTED = '?include=retracted';
const BY_OPERATOR = { kind: 'operator', id: null, user: null, on_behalf_of: null };

type Stopping = (contextId: string, jobId: string, workerId: string) => Promise<unknown>;
const STOPS: Record<'cancel' | 'interrupt' | 'stop', Stopping> = {
  cancel: (_, jobId) => api.post(`/api/jobs/${jobId}/cancel`, {}),
  interrupt: (contextId) => api.post(`/api/contexts/${contextId}/interrupt`, { mode: 'keep', wait_ms: 0 }),
  stop: (_, __, workerId) => api.post(`/api/workers/${workerId}/stop`),
};

/** A turn, and a second one that is stopped in the middle of its answer. */
async function stopped(by: keyof typeof STOPS = 'cancel'): Promise<ContextId> {
  const { id, context_id: contextId } = await api.worker();
  await converse(api, contextId, owner, 'one', 'eins');
  const { body } = await api.post(`/api/contexts/${contextId}/messages`, { content: 'two' });
  const manual = await take(api, contextId, owner);
  await manual.admit();
  await STOPS[by](contextId, body.job_id, id);
  await manual.stop('zebrafi');
  return contextId;
}

describe.each(['cancel', 'interrupt', 'stop'] as const)('after a %s', (cause) => {
  test('a list with retracted messages has the text, and who stopped it; other lists do not', async () => {
    const contextId = await stopped(cause);
    const history = ['u1 text one', 'a1 text eins', 'u2 text two'];
    expect(await lines(contextId)).toEqual(history);
    expect(await lines(contextId, RETRACTED)).toEqual([...history, 'a2 partial zebrafi']);
    const partial = (await listed(contextId, RETRACTED)).at(-1);
    expect(partial).toMatchObject({
      status: 'retracted',
      role: 'assistant',
      retraction: { cause, by: BY_OPERATOR },
      model_id: null,
      usage: null,
      steered: false,
    });
    expect(Date.parse(partial?.retraction.at)).toBeLessThanOrEqual(Date.parse(partial?.completed_at));
    const { body: context } = await api.get(`/api/contexts/${contextId}`);
    expect(context).toMatchObject({ message_count: 3, turn_count: 2, request_count: 1 });
    const read = await api.get(`/api/contexts/${contextId}/messages/${partial?.id}`);
    expect(read.body).toEqual(partial);
    const { body: turns } = await api.get(`/api/contexts/${contextId}/turns`);
    expect(JSON.stringify(turns)).not.toContain(partial?.id);
  });
});

test('an input that interrupts tells who posted it; a retracted answer tells it too', async () => {
  const { context_id: contextId } = await api.worker();
  await api.post(`/api/contexts/${contextId}/messages`, { content: 'one' });
  const manual = await take(api, contextId, owner);
  await manual.admit();
  await manual.answer([{ type: 'text', text: 'whole' }]);
  await api.post(`/api/contexts/${contextId}/messages`, { content: 'instead', delivery: 'interrupt' });
  await manual.stop('half');
  expect(await listed(contextId, RETRACTED)).toMatchObject([
    { retraction: null },
    { type: 'text', retraction: { cause: 'interrupt', by: BY_OPERATOR } },
    { type: 'partial', retraction: { cause: 'interrupt', by: BY_OPERATOR } },
    { status: 'queued', retraction: null },
  ]);
});

test('a search never finds it', async () => {
  const contextId = await stopped();
  while (await indexBacklog(api.database.db));
  const { body } = await api.get(`/api/search?q=zebrafi&context_id=${contextId}`);
  expect(body.data).toEqual([]);
});

test('a fork has it at the same place, and does not count it', async () => {
  const contextId = await stopped();
  const { body: fork } = await api.post(`/api/contexts/${contextId}/fork`, {});
  expect(fork).toMatchObject({ message_count: 3, turn_count: 2 });
  expect(await lines(fork.id, RETRACTED)).toEqual(await lines(contextId, RETRACTED));
  const [source, copy] = await Promise.all([listed(contextId, RETRACTED), listed(fork.id, RETRACTED)]);
  expect(copy.at(-1)?.retraction).toEqual(source.at(-1)?.retraction);
  await converse(api, fork.id, owner, 'three', 'drei');
  expect((await lines(fork.id, RETRACTED)).slice(3)).toEqual(['a2 partial zebrafi', 'u3 text three', 'a3 text drei']);
});

test('an exported context has it again after an import, without who stopped it', async () => {
  const contextId = await stopped();
  const { body: exported } = await api.get(`/api/contexts/${contextId}/export`);
  const { status, body: made } = await api.post('/api/contexts/import', exported);
  expect(status).toBe(201);
  expect(await lines(made.id, RETRACTED)).toEqual(await lines(contextId, RETRACTED));
  const [source] = (await listed(contextId, RETRACTED)).slice(-1);
  const [copy] = (await listed(made.id, RETRACTED)).slice(-1);
  expect(copy?.retraction).toEqual({ ...source?.retraction, by: null });
  const entry = exported.entries.findIndex((one: Body) => one.message_type === 'partial');
  for (const [change, param] of [
    [{ status: 'completed', retraction: undefined }, 'message_type'],
    [{ role: 'user' }, 'message_type'],
    [{ status: 'completed', message_type: 'text' }, 'retraction'],
  ] as const) {
    const entries = exported.entries.with(entry, { ...exported.entries[entry], ...change });
    const refused = await api.post('/api/contexts/import', { ...exported, entries });
    expect(refused.status).toBe(422);
    expect(refused.body.error.param).toBe(`entries.${entry}.${param}`);
  }
});

test('a branch cannot begin at it', async () => {
  const contextId = await stopped();
  const partial = (await listed(contextId, RETRACTED)).at(-1);
  const { status, body } = await api.post(`/api/contexts/${contextId}/branches`, {
    name: 'b',
    from_message_id: partial?.id,
  });
  expect(status).toBe(422);
  expect(body.error.message).toBe('The message was retracted.');
});

test('an input that joined a running job is marked', async () => {
  const { context_id: contextId } = await api.worker();
  const post = (body: object) => api.post(`/api/contexts/${contextId}/messages`, body);
  await post({ content: 'one' });
  const manual = await take(api, contextId, owner);
  await manual.admit();
  await post({ content: 'and this', delivery: 'steer' });
  await post({ content: 'later' });
  const marks = async (): Promise<unknown[]> =>
    (await listed(contextId)).map(({ content, steered }) => [content[0].text, steered]);
  const all = [
    ['one', false],
    ['and this', true],
    ['later', false],
  ];
  expect(await marks()).toEqual(all);
  await manual.settle({ status: 'cancelled', reason: null });
  expect(await marks()).toEqual(all);
});
