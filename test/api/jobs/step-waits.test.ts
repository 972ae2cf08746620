// The calls in the timeline of a job: what each one waited for, and until when, and which job it gave to a worker
// below.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JobId, ProcessId, ToolCallId } from '../../../src/core/ids.ts';
import { SPAWNING, createSpawner, spawn, startSpawning } from '../../workers/tree/spawning.ts';
import type { Fleet } from '../../workers/worker-fleet.ts';
import { OUTSIDE, addProcess, take, type ManualWorker } from '../manual-worker.ts';
import { ids, openApi, type Api, type Body } from '../harness.ts';

const toolSteps = async (api: Api, jobId: string): Promise<Body[]> => {
  const { body } = await api.get(`/api/jobs/${jobId}/steps?limit=200`);
  return body.data.filter(({ kind }: Body) => kind === 'tool');
};
/** The reason, and whether it is over. */
const brief = ({ waits }: Body): string[] =>
  waits.map((wait: Body) => `${wait.for} ${wait.ended_at === null ? 'goes on' : 'is over'}`);

describe('calls of a fleet', () => {
  let fleet: Fleet;
  let api: Api;
  beforeAll(async () => {
    fleet = await startSpawning();
    api = await openApi({}, fleet.url);
  });
  afterAll(async () => {
    await api.close();
    await fleet.close();
  });

  const byName = async (jobId: JobId): Promise<Record<string, Body>> =>
    Object.fromEntries((await toolSteps(api, jobId)).map((step) => [step.name, step]));
  const begin = async (script: string, more: object = {}) => {
    const { contextId } = await createSpawner(fleet, {
      tools: [...SPAWNING, 'ask_user', 'sleep_until'],
      client_tools: [{ name: 'locate', description: '', input_schema: { type: 'object' } }],
      approval: ['look', 'locate'].map((tool) => ({ tool, decision: 'always' as const })),
      ...more,
    });
    const { jobId } = await fleet.post(contextId, script);
    return { contextId, jobId };
  };

  test('show each of their waits, with its duration', async () => {
    const script = [
      'call: look {}',
      'call: locate {}',
      'call: ask_user {"question": "Which?"}',
      'call: sleep_until {"seconds": 3600}',
      spawn('wait: 1h', { name: 'kid' }),
    ].join('\n');
    const { contextId, jobId } = await begin(script);
    const waiting = async (name: string, brief: string): Promise<void> =>
      fleet.until(async () => {
        const waits = (await byName(jobId))[name]?.waits ?? [];
        return waits.map((wait: Body) => wait.for).join(', ') === brief;
      });
    for (const [name, what] of Object.entries({
      look: 'approval',
      locate: 'approval',
      ask_user: 'answer',
      sleep_until: 'timer',
      spawn_worker: 'workers',
    }))
      await waiting(name, what);
    const asked = await byName(jobId);
    for (const step of Object.values(asked)) {
      expect(step).toMatchObject({ status: 'waiting', waits: [{ ended_at: null }], executions: [] });
      const { body: call } = await api.get(`/api/contexts/${contextId}/tools/${step.tool_call_id}`);
      expect(step.waits[0]).toMatchObject({ expires_at: call.waits_until });
      if (step.waits[0].for !== 'approval') expect(step.waits[0].asked_at).toBe(call.waits_since);
    }
    expect(asked['sleep_until'].waits[0].expires_at).not.toBeNull();

    await fleet.judge(contextId);
    await waiting('locate', 'approval, client');
    await fleet.answer(contextId, asked['ask_user'].tool_call_id as ToolCallId, 'this');
    await fleet.answer(contextId, asked['locate'].tool_call_id as ToolCallId, 'here');
    await fleet.until(async () => {
      const steps = await byName(jobId);
      return ['look', 'locate', 'ask_user'].every((name) => steps[name].status === 'completed');
    });
    await fleet.cancel(jobId);
    await fleet.ended(jobId);

    const steps = await byName(jobId);
    expect(Object.fromEntries(Object.entries(steps).map(([name, step]) => [name, brief(step)]))).toEqual({
      look: ['approval is over'],
      locate: ['approval is over', 'client is over'],
      ask_user: ['answer is over'],
      sleep_until: ['timer is over'],
      spawn_worker: ['workers is over'],
    });
    expect(steps['look'].executions).toHaveLength(1);
    for (const { waits } of Object.values(steps))
      for (const { asked_at, ended_at } of waits) expect(ended_at >= asked_at).toBe(true);
    const { ended_at: cutShort } = steps['sleep_until'].waits[0];
    expect(cutShort).toBe(steps['sleep_until'].ended_at);
  });

  test('show the job that they gave to a worker below, with its status', async () => {
    const { jobId } = await begin(`${spawn('ask: Which?', { name: 'kid', tools: ['ask_user'] })}\n---\nsay: over`);
    const childOf = async (): Promise<Body> => (await toolSteps(api, jobId))[0]?.child ?? null;
    await fleet.until(async () => (await childOf())?.status === 'waiting');
    const child = await childOf();
    const [row] = await fleet.query(`select id, context_id, worker_id from jobs where parent_job_id = '${jobId}'`);
    expect(child).toMatchObject({
      job_id: row?.['id'],
      context_id: row?.['context_id'],
      worker_id: row?.['worker_id'],
      name: 'kid',
      finished_at: null,
    });
    expect(child.started_at >= child.created_at).toBe(true);
    const [call] = await toolSteps(api, child.job_id);
    expect(brief(call)).toEqual(['answer goes on']);
    expect(call.child).toBeNull();
    await fleet.answer(child.context_id, call.tool_call_id, 'this');
    await fleet.ended(jobId);
    await fleet.query(`update jobs set cost_nanos = 1500000 where id = '${child.job_id}'`);
    const [spawned] = await toolSteps(api, jobId);
    expect(brief(spawned)).toEqual(['workers is over']);
    const { body: job } = await api.get(`/api/jobs/${child.job_id}`);
    expect(job.usage.cost).not.toBeNull();
    expect(spawned.child).toMatchObject({
      status: 'completed',
      usage: job.usage,
      created_at: job.created_at,
      started_at: job.started_at,
      finished_at: job.finished_at,
    });
  });

  test('of the model have no such wait', async () => {
    const { jobId } = await begin('say: over');
    await fleet.ended(jobId);
    const { body } = await api.get(`/api/jobs/${jobId}/steps`);
    expect(body.data).toMatchObject([{ kind: 'model', waits: null, child: null }]);
  });
});

describe('a decision', () => {
  let api: Api;
  let owner: ProcessId;
  let context: string;
  let job: string;
  let manual: ManualWorker;
  beforeAll(async () => {
    api = await openApi();
    owner = await addProcess(api);
  });
  beforeEach(async () => {
    context = (await api.worker({ model: 'simulated/x' })).context_id;
    job = (await api.post(`/api/contexts/${context}/messages`, { content: 'go' })).body.job_id;
    manual = await take(api, context as never, owner, OUTSIDE);
    await manual.admit();
    await manual.answer([{ type: 'tool_use', id: ids.next<ToolCallId>(), name: 'look', input: {} }]);
  });
  afterAll(() => api.close());

  const only = async (): Promise<Body> => (await toolSteps(api, job))[0];
  const decide = (decision: 'approve' | 'deny') =>
    api.post(`/api/contexts/${context}/tools/approve`, { all: true, decision });

  test('is waited for until it arrives, though the call runs later', async () => {
    await manual.askApproval(Date.now() + 86_400_000);
    const step = await only();
    const { body: call } = await api.get(`/api/contexts/${context}/tools/${step.tool_call_id}`);
    expect(call.waits_until).not.toBeNull();
    expect(step.waits).toMatchObject([{ for: 'approval', expires_at: call.waits_until, ended_at: null }]);
    await decide('approve');
    const [approved] = (await only()).waits;
    expect(approved.ended_at).not.toBeNull();
    await manual.results('seen');
    expect((await only()).waits).toEqual([approved]);
  });

  test('of denial ends the wait, too', async () => {
    await manual.askApproval();
    await decide('deny');
    await manual.endWaits();
    const step = await only();
    expect(step).toMatchObject({ status: 'denied', waits: [{ for: 'approval', expires_at: null }] });
    expect(brief(step)).toEqual(['approval is over']);
  });

  test('that never arrived is waited for until the job ends', async () => {
    await manual.askApproval();
    await manual.settle({ status: 'cancelled', reason: null });
    const step = await only();
    expect(step.waits).toMatchObject([{ for: 'approval', ended_at: step.ended_at }]);
  });
});
