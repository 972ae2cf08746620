// The cost is shown wherever tokens are: of a call, and summed over jobs, contexts, branches, trees and hours.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ContextId, ProcessId, ToolCallId } from '../../../src/core/ids.ts';
import { addProcess, take, type ManualWorker } from '../manual-worker.ts';
import { ids, openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api);
});
afterAll(() => api.close());

const get = async (path: string): Promise<Body> => {
  const { status, body } = await api.get(path);
  expect(status).toBe(200);
  return body;
};
const of = (id: string): Promise<Body> => get(`/api/contexts/${id}`);
const answers = async (id: string): Promise<(string | null)[]> =>
  (await get(`/api/contexts/${id}/messages`)).data
    .filter(({ role }: Body) => role === 'assistant')
    .map(({ usage }: Body) => usage.cost);

/** A job of two model calls, the first of which asks for a look. */
async function runJob(id: string, first: number | undefined, last: number | undefined): Promise<Body> {
  const { body } = await api.post(`/api/contexts/${id}/messages`, { content: 'look '.repeat(300) });
  const manual: ManualWorker = await take(api, id as ContextId, owner);
  await manual.admit();
  await manual.answer([{ type: 'tool_use', id: ids.next<ToolCallId>(), name: 'look', input: {} }], first);
  await manual.results('seen');
  await manual.complete('an owl', last);
  return get(`/api/jobs/${body.job_id}`);
}

/** Three turns, each for a thousand billionths, of which the first two are summarised for a quarter of a thousandth. */
async function summarised(): Promise<{ id: string; jobId: string }> {
  const { context_id: id } = await api.worker();
  for (let turn = 1; turn <= 3; turn += 1) await runJob(id, undefined, 1_000);
  const { body } = await api.post(`/api/contexts/${id}/compact`, { type: 'llm', keep_turns: 1 });
  const manual = await take(api, id as ContextId, owner);
  await manual.admit();
  await manual.compact('They looked.', 250_000);
  await manual.settle({ status: 'completed', outputId: null });
  return { id, jobId: body.job_id };
}

test('a job costs the sum of its calls, to the last digit; so do its context, branch and worker', async () => {
  const worker = await api.worker();
  const id = worker.context_id;
  // 0.1 and 0.2 dollars, which are no 0.3 as floats, and a billionth.
  const job = await runJob(id, 100_000_000, 200_000_001);
  expect(job.usage).toMatchObject({ input_tokens: 20, cost: '0.300000001' });
  expect(await answers(id)).toEqual(['0.10', '0.200000001']);
  const steps: Body[] = (await get(`/api/jobs/${job.id}/steps`)).data;
  expect(steps.map(({ kind, usage }) => [kind, usage?.cost ?? null])).toEqual([
    ['model', '0.10'],
    ['tool', null],
    ['model', '0.200000001'],
  ]);
  const again = await runJob(id, 1, 3_000_000_000);
  expect(again.usage.cost).toBe('3.000000001');
  expect((await of(id)).usage).toMatchObject({ input_tokens: 40, cost: '3.300000002' });
  expect((await get(`/api/contexts/${id}/branches`)).data[0].usage.cost).toBe('3.300000002');
  expect((await get(`/api/workers/${worker.id}/tree`)).usage.cost).toBe('3.300000002');
});

test('a sum covers the known costs, and is null only where none is known', async () => {
  const { context_id: id } = await api.worker();
  expect((await of(id)).usage.cost).toBeNull();
  expect((await runJob(id, undefined, undefined)).usage).toMatchObject({ input_tokens: 20, cost: null });
  expect((await of(id)).usage.cost).toBeNull();
  expect((await runJob(id, undefined, 5_000)).usage.cost).toBe('0.000005');
  expect((await runJob(id, 0, undefined)).usage.cost).toBe('0.00');
  expect((await runJob(id, undefined, undefined)).usage.cost).toBeNull();
  expect((await of(id)).usage.cost).toBe('0.000005');
  expect((await get(`/api/contexts/${id}/branches`)).data[0].usage.cost).toBe('0.000005');
  expect(await answers(id)).toEqual([null, null, null, '0.000005', '0.00', null, null, null]);
});

test('retracted messages count as paid', async () => {
  const { context_id: id } = await api.worker();
  const { body } = await api.post(`/api/contexts/${id}/messages`, { content: 'look' });
  const manual = await take(api, id as ContextId, owner);
  await manual.admit();
  await manual.answer([{ type: 'tool_use', id: ids.next<ToolCallId>(), name: 'look', input: {} }], 70_000);
  await manual.results('seen');
  await manual.settle({
    status: 'failed',
    error: { code: 'provider_refused', message: 'no' },
  });
  expect((await get(`/api/jobs/${body.job_id}`)).usage.cost).toBe('0.00007');
  expect((await of(id)).usage.cost).toBe('0.00007');
});

test('a summary by a model has a cost: its step, its event, its job and its context show it', async () => {
  const { id, jobId } = await summarised();
  const cost = '0.00025';
  expect((await get(`/api/jobs/${jobId}`)).usage.cost).toBe(cost);
  expect((await get(`/api/jobs/${jobId}/steps`)).data).toMatchObject([{ kind: 'compact', usage: { cost } }]);
  expect((await of(id)).usage.cost).toBe('0.000253');
  const [event] = await api.database.db.execute<{ data: Body }>(
    `select data from events where context_id = '${id}' and name = 'ContextCompacted'`,
  );
  expect(event?.data.usage).toEqual({
    input_tokens: 10,
    output_tokens: 5,
    cache_read_tokens: 2,
    cache_write_tokens: 1,
    cache_hit_ratio: 0.1538,
    cost,
  });
});

test('a fork keeps the cost of its messages, and starts its own at 0; a clear resets it to 0', async () => {
  const { context_id: id } = await api.worker();
  await runJob(id, 10, 20);
  const { body: copy } = await api.post(`/api/contexts/${id}/fork`, {});
  expect(copy.usage.cost).toBeNull();
  expect(await answers(copy.id)).toEqual(['0.00000001', '0.00000002']);
  expect((await of(id)).usage.cost).toBe('0.00000003');
  const { body: cleared } = await api.post(`/api/contexts/${id}/clear`);
  expect(cleared.usage.cost).toBeNull();
  expect((await get(`/api/contexts/${id}/branches`)).data[0].usage.cost).toBeNull();
  await runJob(id, undefined, 4_000_000_000);
  expect((await of(id)).usage.cost).toBe('4.00');
});

test('an export contains the cost and imports unchanged; one without it, as older releases wrote it, is accepted', async () => {
  const { context_id: id } = await api.worker();
  await runJob(id, undefined, 12_345);
  const fileOf = (of: string): Promise<Body> => get(`/api/contexts/${of}/export`);
  const file = await fileOf(id);
  expect(file.context.usage.cost).toBe('0.000012345');
  expect(file.branches[0].usage.cost).toBe('0.000012345');
  expect(file.entries.map(({ model }: Body) => model?.usage)).toEqual([
    undefined,
    { input_tokens: 10, output_tokens: 5, cache_read_tokens: 2, cache_write_tokens: 1 },
    undefined,
    { input_tokens: 10, output_tokens: 5, cache_read_tokens: 2, cache_write_tokens: 1, cost: '0.000012345' },
  ]);
  const { status, body: back } = await api.post('/api/contexts/import', file);
  expect({ status, usage: back.usage }).toMatchObject({ status: 201, usage: { cost: '0.000012345' } });
  expect(await fileOf(back.id)).toEqual(file);
  expect(await answers(back.id)).toEqual([null, '0.000012345']);

  for (const { usage } of [file.context, file.branches[0], file.entries[3].model]) delete usage.cost;
  const { body: old } = await api.post('/api/contexts/import', file);
  expect(old.usage).toEqual({ ...back.usage, cost: null });
  expect(await answers(old.id)).toEqual([null, null]);
});

test('the statistics of an hour contain the cost of the jobs that ended in it', async () => {
  await api.database.db.execute(`
    insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, metadata, cost_nanos,
      created_at, started_at, finished_at)
    select gen_random_uuid(), 1, gen_random_uuid(), gen_random_uuid(), 'retry', 'main', 'completed', 1, '{}', cost,
      at, at, at
    from (values ('2026-01-01T00:10:00Z'::timestamptz, 100000000), ('2026-01-01T00:20:00Z', 200000001),
      ('2026-01-01T00:30:00Z', null), ('2026-01-01T01:10:00Z', null), ('2026-01-01T02:10:00Z', 0)) t(at, cost)`);
  const { data } = await get('/api/stats/history?from=2026-01-01T00:00:00Z&to=2026-01-01T04:00:00Z&bucket=3600');
  expect(data.map(({ usage }: Body) => usage.cost)).toEqual(['0.300000001', null, '0.00', null]);
});
