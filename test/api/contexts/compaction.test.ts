// Compactions as a client sees them: requested, listed, published, and their effect on the list of messages.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { sql } from 'drizzle-orm';
import { DEFAULT_TENANT, type ContextId } from '../../../src/core/ids.ts';
import { readBranch } from '../../../src/db/run/history.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: Awaited<ReturnType<typeof addProcess>>;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api);
});
afterAll(() => api.close());

const long = (what: string) => `${what} ${'word '.repeat(200)}`;

/** A context of `turns` turns whose first ones were summarised by a job for that. */
async function compacted(turns = 4): Promise<{ contextId: string; jobId: string; messages: Body[] }> {
  const { context_id: contextId } = await api.worker();
  for (let turn = 1; turn <= turns; turn += 1)
    await converse(api, contextId, owner, long(`question ${turn}`), long(`answer ${turn}`));
  const { body } = await api.post(`/api/contexts/${contextId}/compact`, { type: 'llm', keep_turns: 2 });
  const manual = await take(api, contextId, owner);
  await manual.admit();
  await manual.compact('They talked.');
  await manual.settle({ status: 'completed', outputId: null });
  const all = await api.get(`/api/contexts/${contextId}/messages?include=compacted`);
  return { contextId, jobId: body.job_id, messages: all.body.data };
}

test('a requested compaction is a job of its own, which shows the request', async () => {
  const { context_id: contextId } = await api.worker();
  const asked = await api.post(`/api/contexts/${contextId}/compact`, { type: 'threshold', keep_turns: 0 });
  expect(asked.status).toBe(202);
  const { body } = await api.get(`/api/jobs/${asked.body.job_id}`);
  expect(body).toMatchObject({
    kind: 'compact',
    status: 'queued',
    context_id: contextId,
    compaction: { type: 'threshold', keep_turns: 0, model: null, tokens_before: null, tokens_after: null },
  });
  const bare = await api.post(`/api/contexts/${contextId}/compact`, {});
  expect(bare.status).toBe(202);
  expect((await api.get(`/api/jobs?context_id=${contextId}`)).body.data).toHaveLength(2);
});

test('it is made once for one key, refused for a missing context, for a stopped worker, for an unsupported model', async () => {
  const { context_id: contextId, id } = await api.worker();
  const key = { 'idempotency-key': 'k-compact' };
  const first = await api.post(`/api/contexts/${contextId}/compact`, {}, key);
  expect((await api.post(`/api/contexts/${contextId}/compact`, {}, key)).body).toEqual(first.body);
  const model = await api.post(`/api/contexts/${contextId}/compact`, { type: 'llm', model: 'unknown/x' });
  expect(model.body.error).toMatchObject({ code: 'unknown_model', param: 'model' });
  const gone = await api.post('/api/contexts/0190aaaa-0000-7000-8000-000000000000/compact', {});
  expect(gone.body.error.code).toBe('not_found');
  await api.post(`/api/workers/${id}/stop`, {});
  const stopped = await api.post(`/api/contexts/${contextId}/compact`, {});
  expect([stopped.status, stopped.body.error.code]).toEqual([409, 'worker_stopped']);
});

describe('the messages that a summary replaces', () => {
  test('are left out of the list unless requested, marked where they are listed, and always found by id', async () => {
    const { contextId, messages } = await compacted();
    expect(messages.map(({ turn, compacted: isCompacted }) => [turn, isCompacted])).toEqual([
      ['u1', true],
      ['a1', true],
      ['u2', true],
      ['a2', true],
      ['u3', false],
      ['a3', false],
      ['u4', false],
      ['a4', false],
    ]);
    const url = `/api/contexts/${contextId}/messages`;
    const turnsOf = async (query: string) => (await api.get(`${url}?${query}`)).body.data.map(({ turn }: Body) => turn);
    expect(await turnsOf('')).toEqual(['u3', 'a3', 'u4', 'a4']);
    expect(await turnsOf('order=desc')).toEqual(['a4', 'u4', 'a3', 'u3']);
    expect(await turnsOf('turn=u1')).toEqual([]);
    expect(await turnsOf('turn=u1&include=compacted')).toEqual(['u1']);
    expect(await turnsOf('include=retracted')).toEqual(['u3', 'a3', 'u4', 'a4']);
    for (const both of ['retracted,compacted', 'compacted,retracted'])
      expect(await turnsOf(`include=${both}`)).toHaveLength(8);
    const one = await api.get(`${url}/${messages[0].id}`);
    expect(one.body).toMatchObject({ turn: 'u1', compacted: true });
    const page = await api.get(`${url}?limit=3`);
    const rest = await api.get(`${url}?limit=3&cursor=${page.body.next_cursor}`);
    expect([...page.body.data, ...rest.body.data].map(({ turn }) => turn)).toEqual(['u3', 'a3', 'u4', 'a4']);
  });

  test('are shown by an event, listed with the summary, and on the timeline and the job', async () => {
    const { contextId, jobId, messages } = await compacted();
    const { body } = await api.get(`/api/contexts/${contextId}/compactions`);
    const [made] = body.data;
    expect(body.data).toHaveLength(1);
    expect(made).toMatchObject({
      type: 'llm',
      summary: 'They talked.',
      model: 'simulated/test',
      upto_seq: messages[3].seq,
      job_id: jobId,
      branch: 'main',
    });
    expect(made.tokens_after).toBeLessThan(made.tokens_before);
    const tokens = { tokens_before: made.tokens_before, tokens_after: made.tokens_after };
    const [event] = await api.database.db.execute<{ seq: number; data: Body }>(
      sql`select seq, data from events where context_id = ${contextId} and name = 'ContextCompacted'`,
    );
    expect(event?.seq).toBe(made.seq);
    const ajv = formats.default(new Ajv2020({ strict: false }));
    ajv.addSchema(api.contract.document, 'openapi');
    const received = { context_id: contextId, ...event?.data, at: '2026-01-01T00:00:00.000Z' };
    expect(ajv.validate('openapi#/components/schemas/ContextCompactedEvent', received)).toBe(true);
    expect(event?.data).toMatchObject({ compaction_id: made.id, ...tokens });
    const steps = await api.get(`/api/jobs/${jobId}/steps`);
    expect(steps.body.data).toMatchObject([{ kind: 'compact', name: 'llm', status: 'completed', ...tokens }]);
    const job = await api.get(`/api/jobs/${jobId}`);
    expect(job.body).toMatchObject({
      status: 'completed',
      output: null,
      compaction: { type: 'llm', keep_turns: 2, ...tokens },
      usage: { input_tokens: 10 },
    });
    expect((await api.get(`/api/contexts/${contextId}/compactions?cursor=abc`)).status).toBe(422);
  });

  test('are the same on a branch that reads as far as that, and on no other; a clear ends it', async () => {
    const { contextId, messages } = await compacted();
    const url = `/api/contexts/${contextId}`;
    const make = (name: string, of: Body) =>
      api.post(`${url}/branches`, { name, from_message_id: of.id, from_branch: 'main' });
    expect((await make('behind', messages[4])).status).toBe(201);
    expect((await make('at', messages[3])).status).toBe(201);
    expect((await make('before', messages[2])).status).toBe(201);
    const turnsOf = async (branch: string) =>
      (await api.get(`${url}/messages?branch=${branch}`)).body.data.map(({ turn }: Body) => turn);
    expect(await turnsOf('behind')).toEqual(['u3']);
    expect(await turnsOf('at')).toEqual([]);
    expect(await turnsOf('before')).toEqual(['u1', 'a1', 'u2']);
    const remembered = await readBranch(
      api.database.db,
      { contextId: contextId as ContextId, tenantId: DEFAULT_TENANT },
      'behind',
    );
    expect(remembered?.history.map(({ turn }) => turn)).toEqual(['a2', 'u3']);
    // The estimate is known of the branch that it was made on.
    expect(remembered?.compacted.summary).toMatchObject({ text: 'They talked.', tokensAfter: null });
    await api.call('DELETE', `${url}/branches/behind`);
    expect((await api.post(`${url}/clear`, {})).status).toBe(200);
    expect(await turnsOf('main')).toEqual([]);
    await converse(api, contextId as ContextId, owner, 'again', 'yes');
    expect(await turnsOf('main')).toEqual(['u1', 'a1']);
  });
});

test('the limit of prompts is a setting, and so is pinned text; null removes either', async () => {
  const config = {
    context_limit: 50_000,
    compaction: { type: 'llm', threshold: 0.5, keep_turns: 2, model: 'simulated/small' },
    pinned: [{ title: 'House', text: 'No shoes.' }],
  };
  const { id, context_id: contextId } = await api.worker(config);
  expect((await api.get(`/api/contexts/${contextId}`)).body.config).toEqual(config);
  const patched = await api.call('PATCH', `/api/workers/${id}`, { config: { compaction: null, pinned: [] } });
  expect(patched.body.config).toEqual({ context_limit: 50_000, pinned: [] });
  const unknown = await api.call('PATCH', `/api/workers/${id}`, {
    config: { compaction: { model: 'unknown/x' } },
  });
  expect(unknown.body.error).toMatchObject({ code: 'unknown_model', param: 'config.compaction.model' });
});
