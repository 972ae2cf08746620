// A `once` call that lost its runner: its ledger entry, what it waits for, and the three outcomes that a person can
// report.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import type { ContextId, JobId } from '../../../src/core/ids.ts';
import { LIMITS } from '../../../src/core/limits.ts';
import type { Reconciled } from '../../../src/core/tools/tool.ts';
import { result, says, startFleet, type Fleet } from '../../workers/worker-fleet.ts';
import { openApi, type Answer, type Api, type Body } from '../harness.ts';

let fleet: Fleet;
let api: Api;
/** How often `pay` was started, and with which key. */
let begun: string[] = [];
/** How often it loses its runner. */
let losses = 1;
let reported: Reconciled = { kind: 'unknown' };

beforeAll(async () => {
  fleet = await startFleet({
    model: ({ messages }) =>
      messages.at(-1)?.content.some(({ type }) => type === 'tool_result') === true
        ? says('done')
        : says('', { name: 'look', input: {} }, { name: 'pay', input: { cents: 5 } }),
    tools: {
      look: { execute: () => result('seen') },
      pay: {
        effect: 'once',
        on_unknown: 'ask',
        // It is abandoned without a result: for the platform that is as if its process had died.
        execute: ({ idempotencyKey }) => {
          begun.push(idempotencyKey);
          return begun.length > losses ? result('paid') : { kind: 'aborted' };
        },
        reconcile: () => reported,
      },
    },
  });
  api = await openApi({}, fleet.url);
});
beforeEach(() => {
  begun = [];
  losses = 1;
  reported = { kind: 'unknown' };
});
afterAll(async () => {
  await api.close();
  await fleet.close();
});

type Lost = { contextId: ContextId; jobId: JobId; call: string; path: string };

/** A call that began, and whose runner is gone. */
async function lose(): Promise<Lost> {
  const { contextId } = await fleet.createContext();
  const { jobId } = await fleet.post(contextId, 'pay');
  const row = `from tool_calls where context_id = '${contextId}' and name = 'pay'`;
  await fleet.until(async () => begun.length > 0);
  const [found] = await fleet.query(`select id ${row}`);
  const call = String(found?.['id']);
  return { contextId, jobId, call, path: `/api/contexts/${contextId}/tools/${call}` };
}

/** It waits for a person. */
async function ask(): Promise<Lost> {
  const lost = await lose();
  await fleet.until(async () => (await state(lost)).state === 'AwaitingToolApproval');
  await fleet.until(async () => (await api.get(`/api/jobs/${lost.jobId}`)).body.status === 'waiting');
  return lost;
}

const state = async ({ contextId }: Lost): Promise<Body> => (await api.get(`/api/contexts/${contextId}/state`)).body;
const resolve = ({ path }: Lost, body: object, headers?: Record<string, string>): Promise<Answer> =>
  api.post(`${path}/resolve`, body, headers);
const outcomes = ({ executions }: Body): unknown[] => executions.map(({ outcome }: Body) => outcome);
const resultOf = async ({ contextId, call }: Lost): Promise<Body> => {
  const { body } = await api.get(`/api/contexts/${contextId}/messages?limit=200`);
  const results = body.data.filter(
    ({ type, content }: Body) => type === 'tool_result' && content[0].tool_use_id === call,
  );
  expect(results).toHaveLength(1);
  return results[0];
};

describe('while it waits for a person', () => {
  test('the state, the job, the call, the timeline and the events show it', async () => {
    const lost = await ask();
    const waiting_for = [{ kind: 'approval', tool_call_id: lost.call, name: 'pay' }];
    const found = await state(lost);
    expect(found).toMatchObject({ waiting_for, job_id: lost.jobId });
    expect(found.why).toMatch(/^The job waits for a person to resolve the unknown outcome of pay \(since /);
    expect((await api.get(`/api/jobs/${lost.jobId}`)).body).toMatchObject({ status: 'waiting', waiting_for });
    const inbox = (await api.get('/api/approvals?limit=200')).body.data;
    expect(inbox.find((one: Body) => one.tool_call_id === lost.call)).toMatchObject({
      kind: 'unknown_outcome',
      context_id: lost.contextId,
      job_id: lost.jobId,
      name: 'pay',
      input: { cents: 5 },
      expires_at: null,
    });
    const { status, body } = await api.get(lost.path);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: lost.call,
      context_id: lost.contextId,
      job_id: lost.jobId,
      name: 'pay',
      input: { cents: 5 },
      run_input: { cents: 5 },
      effect: 'once',
      on_unknown: 'ask',
      status: 'waiting',
      waits_for: 'outcome',
      waits_until: null,
      approval: null,
      executions: [{ number: 1, idempotency_key: lost.call, outcome: 'unknown' }],
      result_message_id: null,
      finished_at: null,
    });
    const { data } = (await api.get(`/api/jobs/${lost.jobId}/steps`)).body;
    expect(
      data.map(({ name, status: of, executions }: Body) => [name, of, executions?.map((one: Body) => one.outcome)]),
    ).toEqual([
      ['simulated/scripted', 'completed', undefined],
      ['look', 'completed', ['completed']],
      ['pay', 'waiting', ['unknown']],
    ]);
    expect(
      await fleet.query(
        `select data->'input' as input from events where name = 'OutcomeUnknown' and context_id = '${lost.contextId}'`,
      ),
    ).toEqual([{ input: { cents: 5 } }]);
    expect(await fleet.query(`select lease_owner from contexts where id = '${lost.contextId}'`)).toEqual([
      { lease_owner: null },
    ]);
  });

  test('it happened, with more text than a tool result may have: the rest is cut, with a note', async () => {
    const lost = await ask();
    await resolve(lost, { outcome: 'happened', result: 'x'.repeat(LIMITS.toolResult + 5) });
    expect(await fleet.ended(lost.jobId)).toMatchObject({ status: 'completed' });
    const { content } = (await resultOf(lost)).content[0];
    expect(content).toMatch(/\[Truncated: 5 of \d+ characters were omitted\.\]$/);
  });

  test('it happened, with its result: the job continues with that, and the call is not run again', async () => {
    const lost = await ask();
    const { status, body } = await resolve(lost, { outcome: 'happened', result: 'paid by hand' });
    expect(status).toBe(200);
    expect(outcomes(body)).toEqual(['completed']);
    expect(await fleet.ended(lost.jobId)).toMatchObject({ status: 'completed' });
    const message = await resultOf(lost);
    expect(message).toMatchObject({ id: lost.call, content: [{ content: 'paid by hand', is_error: false }] });
    expect((await api.get(lost.path)).body).toMatchObject({
      status: 'completed',
      waits_for: null,
      result_message_id: lost.call,
    });
    expect(begun).toHaveLength(1);
  });

  test('it happened, and no result is known', async () => {
    const lost = await ask();
    expect((await resolve(lost, { outcome: 'happened' })).status).toBe(200);
    await fleet.ended(lost.jobId);
    expect((await resultOf(lost)).content[0]).toMatchObject({
      content: expect.stringMatching(/^The call took effect: .* Do not repeat it\.$/),
      is_error: false,
    });
  });

  test('it did not happen: it is run again, with the same key, and both times are in the ledger', async () => {
    const lost = await ask();
    const { status, body } = await resolve(lost, { outcome: 'did_not_happen' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ waits_for: null, executions: [{ outcome: 'did_not_happen' }] });
    expect(await fleet.ended(lost.jobId)).toMatchObject({ status: 'completed' });
    expect((await resultOf(lost)).content[0]).toMatchObject({ content: 'paid', is_error: false });
    expect((await api.get(lost.path)).body).toMatchObject({
      status: 'completed',
      executions: [
        { number: 1, outcome: 'did_not_happen', idempotency_key: lost.call },
        { number: 2, outcome: 'completed', idempotency_key: lost.call },
      ],
    });
    expect(begun).toEqual([lost.call, lost.call]);
  });

  test('and the timeline shows each wait for a person, until the report', async () => {
    losses = 2;
    const lost = await ask();
    const waits = async (): Promise<Body[]> => {
      const { data } = (await api.get(`/api/jobs/${lost.jobId}/steps`)).body;
      return data.find((step: Body) => step.tool_call_id === lost.call).waits;
    };
    expect(await waits()).toMatchObject([{ for: 'outcome', expires_at: null, ended_at: null }]);
    await resolve(lost, { outcome: 'did_not_happen' });
    await fleet.until(async () => (await waits()).length === 2);
    const [first, second] = await waits();
    expect(first.ended_at >= first.asked_at && first.ended_at <= second.asked_at).toBe(true);
    expect(second).toMatchObject({ for: 'outcome', ended_at: null });
    await resolve(lost, { outcome: 'happened' });
    await fleet.ended(lost.jobId);
    expect(await waits()).toMatchObject([first, { asked_at: second.asked_at, ended_at: expect.any(String) }]);
  });

  test('is in the inbox, though it was approved before it ran', async () => {
    const lost = await ask();
    await fleet.query(`update tool_calls set approval = '{"decision": "approve", "reason": null, "input": null}',
      approval_at = clock_timestamp() where id = '${lost.call}'`);
    const { data } = (await api.get('/api/approvals?limit=200')).body;
    expect(data.map((one: Body) => one.tool_call_id)).toContain(lost.call);
    await resolve(lost, { outcome: 'tell' });
    await fleet.ended(lost.jobId);
  });

  test('the outcome is unknown: the model is informed', async () => {
    const lost = await ask();
    expect((await resolve(lost, { outcome: 'tell' })).status).toBe(200);
    await fleet.ended(lost.jobId);
    expect((await resultOf(lost)).content[0]).toMatchObject({
      content: expect.stringContaining('outcome unknown'),
      is_error: true,
    });
    const { body } = await api.get(lost.path);
    expect(body.status).toBe('unknown');
    expect(outcomes(body)).toEqual(['unknown']);
  });

  test('its job can be cancelled: the call stays unknown, and later reports are refused', async () => {
    const lost = await ask();
    await api.post(`/api/jobs/${lost.jobId}/cancel`, { wait_ms: 5_000 });
    expect((await api.get(lost.path)).body).toMatchObject({
      status: 'unknown',
      executions: [{ outcome: 'unknown' }],
    });
    expect(await resolve(lost, { outcome: 'happened' })).toMatchObject({
      status: 409,
      body: { error: { code: 'not_waiting' } },
    });
  });

  test('its worker can be stopped, which ends the job as well', async () => {
    const lost = await ask();
    const [row] = await fleet.query(`select id from workers where context_id = '${lost.contextId}'`);
    await api.post(`/api/workers/${String(row?.['id'])}/stop`);
    await fleet.ended(lost.jobId);
    expect((await resolve(lost, { outcome: 'did_not_happen' })).status).toBe(409);
    expect(begun).toHaveLength(1);
  });
});

describe('a report of the outcome', () => {
  test('twice counts once; the same key is answered alike', async () => {
    const lost = await ask();
    const key = { 'idempotency-key': v7() };
    const first = await resolve(lost, { outcome: 'happened', result: 'a' }, key);
    expect(first.status).toBe(200);
    expect((await resolve(lost, { outcome: 'happened', result: 'a' }, key)).body).toEqual(first.body);
    expect((await resolve(lost, { outcome: 'happened', result: 'b' }, key)).status).toBe(422);
    expect(await resolve(lost, { outcome: 'tell' })).toMatchObject({
      status: 409,
      body: { error: { code: 'not_waiting' } },
    });
    await fleet.ended(lost.jobId);
  });

  test('at once with others: one counts', async () => {
    const lost = await ask();
    const answers = await Promise.all([
      resolve(lost, { outcome: 'did_not_happen' }),
      resolve(lost, { outcome: 'happened', result: 'a' }),
      resolve(lost, { outcome: 'tell' }),
      resolve(lost, { outcome: 'did_not_happen' }),
    ]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
    await fleet.ended(lost.jobId);
    expect(begun.length).toBeLessThanOrEqual(2);
    expect(
      await fleet.query(`select 1 from events where name = 'OutcomeResolved' and context_id = '${lost.contextId}'`),
    ).toHaveLength(1);
  });

  test('of a missing call, or one that does not wait for that, is refused', async () => {
    const lost = await ask();
    const other = { ...lost, path: `/api/contexts/${lost.contextId}/tools/${v7()}` };
    expect((await resolve(other, { outcome: 'tell' })).status).toBe(404);
    expect((await api.get(other.path)).status).toBe(404);
    const { contextId } = await fleet.createContext();
    expect(
      (await resolve({ ...lost, path: `/api/contexts/${contextId}/tools/${lost.call}` }, { outcome: 'tell' })).status,
    ).toBe(404);
    const [look] = await fleet.query(`select id from calls where context_id = '${lost.contextId}' and name = 'look'`);
    const ended = { ...lost, path: `/api/contexts/${lost.contextId}/tools/${String(look?.['id'])}` };
    expect(await resolve(ended, { outcome: 'tell' })).toMatchObject({
      status: 409,
      body: { error: { code: 'not_waiting' } },
    });
    expect((await resolve(lost, { outcome: 'tell', result: 'x' })).status).toBe(422);
    expect((await resolve(lost, { outcome: 'perhaps' })).status).toBe(422);
    expect((await api.post(`${lost.path}/result`, { content: 'x' })).status).toBe(422);
    expect((await resolve(lost, { outcome: 'tell' })).status).toBe(200);
    await fleet.ended(lost.jobId);
  });
});

describe('its tool is asked first', () => {
  test('and reports that it happened: no person is asked', async () => {
    reported = { kind: 'happened', result: { kind: 'result', content: 'found', is_error: false } };
    const lost = await lose();
    expect(await fleet.ended(lost.jobId)).toMatchObject({ status: 'completed' });
    expect((await resultOf(lost)).content[0]).toMatchObject({ content: 'found' });
    expect(outcomes((await api.get(lost.path)).body)).toEqual(['completed']);
    expect(begun).toHaveLength(1);
  });

  test('and reports that it did not: it is run again', async () => {
    reported = { kind: 'did_not_happen' };
    const lost = await lose();
    expect(await fleet.ended(lost.jobId)).toMatchObject({ status: 'completed' });
    expect((await resultOf(lost)).content[0]).toMatchObject({ content: 'paid' });
    expect(outcomes((await api.get(lost.path)).body)).toEqual(['did_not_happen', 'completed']);
    expect(begun).toHaveLength(2);
  });
});
