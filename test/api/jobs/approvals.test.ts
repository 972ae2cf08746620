// Approval over HTTP: how a client sees a waiting call, every decision, and every refusal.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { v7 } from 'uuid';
import type { ProcessId, ToolCallId } from '../../../src/core/ids.ts';
import type { Json } from '../../../src/core/json.ts';
import { OUTSIDE, addProcess, take, type ManualWorker } from '../manual-worker.ts';
import { ids, openApi, type Answer, type Api, type Body } from '../harness.ts';
import type { ToolDescriptor } from '../../../src/core/tools/tool.ts';

const TOOLS: ToolDescriptor[] = [
  ...OUTSIDE,
  ...['mail', 'pay'].map((name) => ({
    name,
    effect: 'once' as const,
    answered_by: 'tool' as const,
    description: '',
    input_schema: { type: 'object' },
    on_unknown: 'tell' as const,
  })),
];

let api: Api;
let owner: ProcessId;
let worker: Body;
let context: string;
let job: string;
let manual: ManualWorker;
beforeAll(async () => {
  const checkInput = async (tool: string, input: { [key: string]: Json }) =>
    tool !== 'mail' ? null : typeof input['to'] === 'string' ? [] : ['/to: is missing'];
  api = await openApi({}, undefined, new Map(), checkInput);
  owner = await addProcess(api, { tools: ['ask_user', 'mail', 'pay'] });
});
beforeEach(async () => {
  worker = await api.worker({ model: 'simulated/x' });
  context = worker.context_id;
  job = (await post({ content: 'go' })).body.job_id;
  manual = await take(api, context as never, owner, TOOLS);
  await manual.admit();
  api.wakeUps.splice(0);
});
afterAll(() => api.close());

const post = (body: object) => api.post(`/api/contexts/${context}/messages`, body);
const say = (body: object, headers?: Record<string, string>): Promise<Answer> =>
  api.post(`/api/contexts/${context}/tools/approve`, body, headers);
const state = async (): Promise<Body> => (await api.get(`/api/contexts/${context}/state`)).body;
const grants = async (): Promise<Body[]> => (await api.get(`/api/contexts/${context}/grants`)).body.data;
const inbox = async (query = ''): Promise<Body> => (await api.get(`/api/approvals${query}`)).body;
const config = async (): Promise<Body> => (await api.get(`/api/contexts/${context}`)).body.config;
const refusal = ({ status, body }: Answer) => [status, body.error?.code];
const statuses = async (...calls: ToolCallId[]) => Promise.all(calls.map(async (id) => (await one(id))['status']));
const one = async (id: ToolCallId) =>
  (await api.database.db.execute(`select status, approval from tool_calls where id = '${id}'`))[0] ?? {};

/** The model asks for calls; those of tools wait for approval, and no other work is left. */
async function ask(until: number | null, ...calls: [name: string, input: Json][]): Promise<ToolCallId[]> {
  const uses = calls.map(([name, input]) => ({
    type: 'tool_use' as const,
    id: ids.next<ToolCallId>(),
    name,
    input,
  }));
  await manual.answer(uses);
  await manual.askApproval(until);
  await manual.awaitCalls(Date.now() + 86_400_000);
  return uses.map(({ id }) => id);
}
async function askOne(name = 'mail', input: Json = { to: 'ann' }, until: number | null = null) {
  const [id] = await ask(until, [name, input]);
  if (id === undefined) throw new Error('No call waits for approval.');
  return id;
}

describe('a call that waits for approval', () => {
  test('is shown by the state, the job, the timeline, the inbox and an event', async () => {
    const until = Date.now() + 60_000;
    const call = await askOne('mail', { to: 'ann' }, until);
    const waiting_for = [{ kind: 'approval', tool_call_id: call, name: 'mail', until: expect.stringMatching(/Z$/) }];
    const found = await state();
    expect(found).toMatchObject({ state: 'AwaitingToolApproval', job_id: job, waiting_for });
    expect(found.why).toMatch(/^The job waits for a person to approve mail \(since 2.*Z, until 2.*Z\)$/);
    expect((await api.get(`/api/jobs/${job}`)).body).toMatchObject({ status: 'waiting', waiting_for });
    const { body: steps } = await api.get(`/api/jobs/${job}/steps`);
    expect(steps.data.at(-1)).toMatchObject({ name: 'mail', status: 'waiting', approval: null });
    const { data } = await inbox();
    expect(data.find((item: Body) => item.tool_call_id === call)).toMatchObject({
      kind: 'approval',
      context_id: context,
      worker_id: worker.id,
      job_id: job,
      name: 'mail',
      input: { to: 'ann' },
      expires_at: waiting_for[0]?.until,
    });
    const [event] = await api.database.db.execute<{ data: Body }>(
      `select data from events where context_id = '${context}' and name = 'ApprovalRequested'`,
    );
    expect(event?.data).toMatchObject({
      tool_call_id: call,
      name: 'mail',
      job_id: job,
      input: { to: 'ann' },
    });
  });

  test.each(['the bus', 'polling'])('ends a long poll for it, by %s; a wait of another kind does not', async (by) => {
    const published = vi.spyOn(api.bus, 'publish');
    const ends = ['waiting', 'end'].map((until) => api.get(`/api/jobs/${job}?wait_ms=20000&until=${until}`));
    if (by === 'polling') published.mockImplementation(() => undefined);
    await manual.delay(Date.now() + 1);
    const call = await askOne();
    const waiting = await ends[0];
    published.mockRestore();
    expect(waiting?.body).toMatchObject({ status: 'waiting', waiting_for: [{ kind: 'approval', tool_call_id: call }] });
    expect((await api.get(`/api/jobs/${job}?wait_ms=20000&until=waiting`)).body).toEqual(waiting?.body);
    await say({ tool_call_id: call, decision: 'approve' });
    const answered = await api.get(`/api/jobs/${job}?wait_ms=100&until=waiting`);
    expect(answered.body.waiting_for).toEqual([]);
    await api.post(`/api/jobs/${job}/cancel`, {});
    expect((await ends[1])?.body.status).toBe('cancelled');
  });

  test('is approved: it is to be run, and a wake-up is sent for the context', async () => {
    const call = await askOne();
    const { status, body } = await say({ tool_call_id: call, decision: 'approve' });
    expect([status, body]).toEqual([200, { resolved: [call] }]);
    expect(await one(call)).toEqual({
      status: 'pending',
      approval: {
        decision: 'approve',
        reason: null,
        input: null,
        actor: { kind: 'operator', id: null, user: null, onBehalfOf: null },
      },
    });
    expect(api.wakeUps).toMatchObject([{ contextId: context }]);
    expect(await state()).toMatchObject({ waiting_for: [] });
    const { body: steps } = await api.get(`/api/jobs/${job}/steps`);
    expect(steps.data.at(-1)).toMatchObject({ approval: { decision: 'approve', reason: null, input: null } });
  });

  test('is denied with a reason, which the model receives', async () => {
    const call = await askOne();
    await say({ tool_call_id: call, decision: 'deny', reason: 'not on Fridays' });
    expect(await statuses(call)).toEqual(['waiting']);
    expect(await state()).toMatchObject({ waiting_for: [] });
    expect((await inbox()).data.map((item: Body) => item.tool_call_id)).not.toContain(call);
    manual = await take(api, context as never, owner, TOOLS);
    await manual.endWaits();
    expect(await statuses(call)).toEqual(['denied']);
    const { body } = await api.get(`/api/contexts/${context}/messages`);
    expect(body.data.at(-1).content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: call,
        content: 'Denied by the operator: not on Fridays',
        is_error: true,
      },
    ]);
  });

  test("is approved with another input, which is checked; the model's message stays", async () => {
    const call = await askOne();
    const wrong = await say({ tool_call_id: call, decision: 'approve', input: { to: 5 } });
    expect(wrong.body.error).toMatchObject({ code: 'invalid_request', param: 'input' });
    expect(wrong.body.error.message).toContain('/to: is missing');
    expect(await statuses(call)).toEqual(['waiting']);
    const right = await say({ tool_call_id: call, decision: 'approve', input: { to: 'bob' } });
    expect(right.status).toBe(200);
    expect(await one(call)).toMatchObject({ approval: { input: { to: 'bob' } } });
    const { body } = await api.get(`/api/contexts/${context}/messages`);
    expect(body.data.at(-1).content[0].input).toEqual({ to: 'ann' });
    const { body: steps } = await api.get(`/api/jobs/${job}/steps`);
    expect(steps.data.at(-1)).toMatchObject({ approval: { input: { to: 'bob' } } });
  });

  test('all are decided at once, and questions are not among them', async () => {
    const calls = await ask(null, ['mail', {}], ['ask_user', { question: 'Sure?' }], ['pay', {}]);
    const [mail, question, pay] = calls;
    const { body } = await say({ all: true, decision: 'deny' });
    expect(body.resolved).toEqual([mail, pay]);
    expect((await state()).waiting_for).toEqual([{ kind: 'input', tool_call_id: question, name: 'ask_user' }]);
    expect(refusal(await say({ all: true, decision: 'deny' }))).toEqual([409, 'not_waiting']);
  });

  test('is decided once: two at the same time, and later ones', async () => {
    const call = await askOne();
    const answers = await Promise.all([
      say({ tool_call_id: call, decision: 'approve' }),
      say({ tool_call_id: call, decision: 'deny' }),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect(refusal(await say({ tool_call_id: call, decision: 'deny' }))).toEqual([409, 'not_waiting']);
    const onRun = await api.database.db.execute(
      `select 1 from events where context_id = '${context}' and name = 'ApprovalResolved'`,
    );
    expect(onRun).toHaveLength(1);
  });

  test('with one idempotency key the decision is made once', async () => {
    const call = await askOne();
    const headers = { 'idempotency-key': v7() };
    const first = await say({ tool_call_id: call, decision: 'approve', input: { to: 'bob' } }, headers);
    const again = await say({ tool_call_id: call, decision: 'approve', input: { to: 'bob' } }, headers);
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body]);
    const other = await say({ tool_call_id: call, decision: 'deny' }, headers);
    expect(refusal(other)).toEqual([422, 'idempotency_conflict']);
  });
});

describe('a decision is remembered', () => {
  test('as a grant of the context, and for the other calls of the tool', async () => {
    await api.call('PATCH', `/api/contexts/${context}`, {
      config: { approval: [{ tool: '*', decision: 'always' }] },
    });
    const { headers } = await api.get(`/api/contexts/${context}`);
    const [mail, pay, again] = await ask(null, ['mail', { n: 1 }], ['pay', {}], ['mail', { n: 2 }]);
    const { body } = await say({
      tool_call_id: mail,
      decision: 'approve',
      input: { to: 'bob' },
      remember: true,
    });
    expect(body.resolved).toEqual([mail, again]);
    expect((await config()).approval).toEqual([{ tool: '*', decision: 'always' }]);
    expect((await api.get(`/api/contexts/${context}`)).headers['etag']).toBe(headers['etag']);
    const [grant, ...more] = await grants();
    expect([grant, more]).toEqual([
      {
        tool: 'mail',
        actor: { kind: 'operator', id: null, user: null, on_behalf_of: null },
        created_at: expect.any(String),
        expires_at: expect.any(String),
      },
      [],
    ]);
    expect(Date.parse(grant.expires_at) - Date.parse(grant.created_at)).toBe(30 * 86_400_000);
    expect(await one(again as ToolCallId)).toMatchObject({ status: 'pending', approval: { input: null } });
    expect((await state()).waiting_for).toMatchObject([{ tool_call_id: pay }]);
  });

  test('for a denial as a rule of the config: no second approval is requested', async () => {
    const call = await askOne('pay');
    await say({ tool_call_id: call, decision: 'deny', remember: true });
    expect((await config()).approval).toEqual([{ tool: 'pay', decision: 'deny' }]);
    expect(await grants()).toEqual([]);
  });

  test('as a denial, which ends the grant: a grant does not return when the rule is removed', async () => {
    await say({ tool_call_id: await askOne('pay'), decision: 'approve', remember: true });
    await say({ tool_call_id: await askOne('mail'), decision: 'approve', remember: true });
    await say({ tool_call_id: await askOne('pay'), decision: 'deny', remember: true });
    expect((await grants()).map(({ tool }) => tool)).toEqual(['mail']);
    await api.call('PATCH', `/api/contexts/${context}`, { config: { approval: [] } });
    expect((await grants()).map(({ tool }) => tool)).toEqual(['mail']);
  });

  test('for as long as was asked, with the person who decided, until it is taken back', async () => {
    const call = await askOne('pay');
    await say({ tool_call_id: call, decision: 'approve', remember: true, remember_for_s: 60, user: 'ann' });
    const [grant] = await grants();
    expect(grant).toMatchObject({ tool: 'pay', actor: { kind: 'operator', on_behalf_of: 'ann' } });
    expect(Date.parse(grant.expires_at) - Date.parse(grant.created_at)).toBe(60_000);
    const { body: stored } = await api.get(`/api/contexts/${context}/tools/${call}`);
    expect(stored.approval.actor).toEqual(grant.actor);
    const path = `/api/contexts/${context}/grants/pay`;
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect(await grants()).toEqual([]);
    expect((await api.call('DELETE', path)).status).toBe(404);
    expect((await api.call('DELETE', `/api/contexts/${context}/grants/%00`)).status).toBe(404);
    // A repeated request gets the first answer.
    const again = await askOne('pay');
    await say({ tool_call_id: again, decision: 'approve', remember: true });
    for (let sent = 0; sent < 2; sent += 1)
      expect((await api.call('DELETE', path, undefined, { 'idempotency-key': again })).status).toBe(204);
    expect((await api.get(`/api/contexts/${v7()}/grants`)).status).toBe(404);
  });

  test('by no fork', async () => {
    const call = await askOne('pay');
    await say({ tool_call_id: call, decision: 'approve', remember: true });
    const { body: fork } = await api.post(`/api/contexts/${context}/fork`, {});
    expect((await api.get(`/api/contexts/${fork.id}/grants`)).body.data).toEqual([]);
    expect(fork.config.approval).toBeUndefined();
  });

  test('by who has the scope approve: a key, a token, a session', async () => {
    const env = { NIGHTSHIFT_API_KEYS: 'the-key-of-default:default', NIGHTSHIFT_SECRET_KEY: 's'.repeat(32) };
    const keyed = await openApi(env, api.databaseUrl);
    const withKey = { authorization: 'Bearer the-key-of-default' };
    const wanted = { user: 'ann', scopes: ['approve'], context_ids: [context], expires_in_s: 60 };
    const { token } = (await keyed.post('/api/tokens', wanted, withKey)).body;
    const withToken = { authorization: `Bearer ${token}` };
    const path = `/api/contexts/${context}/tools/approve`;
    const remembered = async (tool: string, headers: Record<string, string>, more: object = {}) => {
      const body = { tool_call_id: await askOne(tool), decision: 'approve', remember: true, ...more };
      const { status } = await keyed.post(path, body, headers);
      expect(status).toBe(200);
      return (await grants()).find((one: Body) => one.tool === tool)?.actor;
    };
    expect(await remembered('mail', withToken)).toEqual({
      kind: 'token',
      id: expect.any(String),
      user: 'ann',
      on_behalf_of: null,
    });
    expect(await remembered('pay', withKey, { user: 'bo' })).toEqual({
      kind: 'key',
      id: expect.stringMatching(/^env:/),
      user: null,
      on_behalf_of: 'bo',
    });
    const body = { tool_call_id: v7(), decision: 'approve', user: 'bo' };
    expect((await keyed.post(path, body, withToken)).status).toBe(403);
    await keyed.close();
  });
});

describe('a decision is refused', () => {
  test.each([
    [{ decision: 'approve' }, 'tool_call_id'],
    [{ tool_call_id: v7(), all: true, decision: 'approve' }, 'tool_call_id'],
    [{ all: true, decision: 'approve', input: {} }, 'input'],
    [{ all: false, decision: 'approve' }, 'all'],
    [{ tool_call_id: v7(), decision: 'deny', input: {} }, 'input'],
    [{ tool_call_id: v7(), decision: 'maybe' }, 'decision'],
    [{ tool_call_id: v7() }, 'decision'],
    [{ tool_call_id: v7(), decision: 'approve', input: [] }, 'input'],
    [{ tool_call_id: v7(), decision: 'approve', input: 'text' }, 'input'],
    [{ tool_call_id: v7(), decision: 'approve', remember_for_s: 60 }, 'remember_for_s'],
    [{ tool_call_id: v7(), decision: 'deny', remember: true, remember_for_s: 60 }, 'remember_for_s'],
    [{ tool_call_id: v7(), decision: 'approve', remember: true, remember_for_s: 0 }, 'remember_for_s'],
  ])('with the body %j', async (body, param) => {
    const refused = await say(body);
    expect([refused.status, refused.body.error.code]).toEqual([422, 'invalid_request']);
    expect(refused.body.error.param).toBe(param);
  });

  test('for a missing call, for a question, and for a call that is to be run', async () => {
    expect(refusal(await say({ tool_call_id: v7(), decision: 'approve' }))).toEqual([404, 'not_found']);
    const other = await api.post(`/api/contexts/${v7()}/tools/approve`, { all: true, decision: 'deny' });
    expect(refusal(other)).toEqual([404, 'not_found']);
    const [question] = await ask(null, ['ask_user', { question: 'Sure?' }]);
    expect(refusal(await say({ tool_call_id: question, decision: 'approve' }))).toEqual([409, 'not_waiting']);
  });

  test('after its deadline', async () => {
    const call = await askOne('mail', {}, Date.now() - 1);
    expect(refusal(await say({ tool_call_id: call, decision: 'approve' }))).toEqual([409, 'not_waiting']);
    expect(refusal(await say({ all: true, decision: 'approve' }))).toEqual([409, 'not_waiting']);
    expect(await statuses(call)).toEqual(['waiting']);
  });

  test('once its job has a stop request, and once it has ended', async () => {
    const [call = ''] = await ask(null, ['mail', {}]);
    manual = await take(api, context as never, owner, TOOLS).catch(() => manual);
    await api.post(`/api/jobs/${job}/cancel`, { wait_ms: 0 });
    expect(refusal(await say({ tool_call_id: call, decision: 'approve' }))).toEqual([409, 'not_waiting']);
  });

  test('a result is no decision', async () => {
    const call = await askOne();
    const brought = await api.post(`/api/contexts/${context}/tools/${call}/result`, { content: 'done' });
    expect(refusal(brought)).toEqual([409, 'not_waiting']);
    expect((await post({ content: 'a plain input' })).body.job_id).not.toBe(job);
    expect((await state()).waiting_for).toMatchObject([{ tool_call_id: call }]);
  });
});

describe('an interrupt', () => {
  test('of calls without approval reports no effects', async () => {
    await ask(null, ['mail', {}], ['pay', {}]);
    const { body } = await api.post(`/api/contexts/${context}/interrupt`, { mode: 'discard' });
    expect(body).toMatchObject({ status: 'interrupted', effects: [] });
    expect(await inbox().then(({ data }) => data.filter((item: Body) => item.context_id === context))).toEqual([]);
    const { body: listed } = await api.get(`/api/contexts/${context}/messages`);
    expect(listed.data.map((message: Body) => message.role)).toEqual(['user']);
  });
});

describe('the inbox', () => {
  test('lists an approved call again whose outcome is unknown', async () => {
    const call = await askOne();
    await say({ tool_call_id: call, decision: 'approve', input: { to: 'you' } });
    await api.database.db.execute(
      `update tool_calls set status = 'waiting', waits_for = 'outcome' where id = '${call}'`,
    );
    const { data } = await inbox('?kind=unknown_outcome&limit=200');
    // It ran with the arguments of the person who approved it.
    expect(data.find((item: Body) => item.tool_call_id === call)?.input).toEqual({ to: 'you' });
    expect((await state()).waiting_for).toMatchObject([{ tool_call_id: call }]);
    expect(refusal(await say({ tool_call_id: call, decision: 'approve' }))).toEqual([409, 'not_waiting']);
    await api.database.db.execute(
      `update tool_calls set status = 'completed', finished_at = now() where id = '${call}'`,
    );
  });

  test('lists the oldest first, by kind and in pages, of this tenant', async () => {
    const [mail, question] = await ask(null, ['mail', {}], ['ask_user', { question: 'Sure?' }]);
    const second = await api.worker({ model: 'simulated/x' });
    context = second.context_id;
    await post({ content: 'go' });
    manual = await take(api, context as never, owner, TOOLS);
    await manual.admit();
    const [locate, pay] = await ask(null, ['locate', { who: 'me' }], ['pay', {}]);
    const mine = new Set([mail, question, locate, pay]);
    const pages: Body[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Body = await inbox(`?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      pages.push(...page.data);
      cursor = page.next_cursor;
    }
    const whole = await inbox('?limit=200');
    expect(pages).toEqual(whole.data);
    const listed = pages.filter((item) => mine.has(item.tool_call_id));
    expect(new Set(listed.slice(0, 2).map((item) => item.tool_call_id))).toEqual(new Set([mail, question]));
    expect(new Set(listed.slice(2).map((item) => item.tool_call_id))).toEqual(new Set([locate, pay]));
    const times = pages.map((item) => String(item.requested_at));
    expect(times).toEqual(times.toSorted());
    const inputs = await inbox('?kind=input&limit=200');
    expect(inputs.data.filter((item: Body) => mine.has(item.tool_call_id))).toMatchObject([
      { tool_call_id: question, input: { question: 'Sure?' } },
      { tool_call_id: locate, input: { who: 'me' } },
    ]);
    const unknown = await inbox('?kind=unknown_outcome');
    expect(unknown.data).toEqual([]);
  });

  test.each(['cursor=nonsense', `cursor=${Buffer.from('["x",1]').toString('base64url')}`, 'kind=all', 'limit=0'])(
    'refuses %s',
    async (query) => {
      expect((await api.get(`/api/approvals?${query}`)).status).toBe(422);
    },
  );
});
