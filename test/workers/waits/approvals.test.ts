// Approval by a real worker process: a waiting call occupies no slot, an approved one runs once, a denied one never
// does.
import { afterEach, describe, expect, test } from 'vitest';
import { DEFAULT_TENANT, type ContextId, type JobId, type ToolCallId } from '../../../src/core/ids.ts';
import { ASKING_DEFAULTS, type ApprovalRule, type Asking } from '../../../src/core/run/policy.ts';
import { assemble } from '../../../src/core/conversation/prompt.ts';
import { changeWorker } from '../../../src/commands/workers/change-worker.ts';
import { result, says, startFleet, transcript, type Fleet, type FleetOptions, type Script } from '../worker-fleet.ts';

let fleet: Fleet | null = null;
let ran: { name: string; input: unknown; key: string }[] = [];
afterEach(async () => {
  await fleet?.close();
  fleet = null;
  ran = [];
});

const asks = (...calls: [string, object][]) =>
  says('', ...calls.map(([name, input]) => ({ name, input: input as never })));

const textOf = (content: unknown) => (typeof content === 'string' ? content : '');

/** Asks for `rounds` of calls, one after the other, and then answers with their results. */
function asking(...rounds: [string, object][][]): Script {
  return ({ messages }) => {
    const results = messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === 'tool_result' ? [textOf(block.content)] : [])),
    );
    const answers = messages.filter(({ role }) => role === 'assistant').length;
    const round = rounds[answers];
    return round === undefined ? says(`told: ${results.join(' | ')}`) : asks(...round);
  };
}

async function start(options: Partial<FleetOptions> & { model: Script }): Promise<Fleet> {
  const runs =
    (name: string) =>
    ({ input, idempotencyKey }: { input: unknown; idempotencyKey: string }) => {
      ran.push({ name, input, key: idempotencyKey });
      return result(`${name} done`);
    };
  fleet = await startFleet({
    tools: {
      look: { execute: runs('look') },
      mail: { effect: 'once', approval: 'always', execute: runs('mail') },
      pay: { effect: 'once', approval: 'always', execute: runs('pay') },
      wipe: { effect: 'once', approval: 'deny', execute: runs('wipe') },
      locate: { answered_by: 'client', effect: 'once', execute: () => result('never') },
    },
    ...options,
  });
  return fleet;
}

const limited = (limits: Partial<Asking>) => () => ({ asking: { ...ASKING_DEFAULTS, ...limits } });

async function begun(of: Fleet, text = 'go'): Promise<{ contextId: ContextId; jobId: JobId }> {
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, text);
  return { contextId, jobId };
}

async function waiting(of: Fleet, jobId: JobId): Promise<ToolCallId[]> {
  await of.until(async () => (await of.job(jobId))['status'] === 'waiting');
  const calls = await of.query(
    `select id from tool_calls where job_id = '${jobId}' and status = 'waiting' order by ordinal`,
  );
  return calls.map((call) => call['id'] as ToolCallId);
}

const lines = async (of: Fleet, contextId: ContextId) => transcript(await of.history(contextId));
const row = async (of: Fleet, contextId: ContextId) =>
  (await of.query(`select * from contexts where id = '${contextId}'`))[0];
const events = async (of: Fleet, contextId: ContextId, like: string) =>
  of.query(`select name, data from events where context_id = '${contextId}' and name like '${like}' order by seq`);

async function expectAtRest(of: Fleet, contextId: ContextId): Promise<void> {
  await of.until(async () => (await row(of, contextId))?.['scheduling_status'] === 'idle');
  expect(await of.query('select 1 from tool_calls where finished_at is null')).toEqual([]);
  expect(JSON.stringify(assemble(await of.history(contextId)))).not.toContain('No result was recorded');
  const numbers = await of.query(`select seq from (
      select seq from events where context_id = '${contextId}'
      union all select seq from messages where context_id = '${contextId}' and seq is not null) s order by seq`);
  expect(numbers.map(({ seq }) => Number(seq))).toEqual(numbers.map((_, at) => at + 1));
}

describe('a call that needs approval', () => {
  test('waits without a slot while calls without approval run at once, and runs once it is approved', async () => {
    const of = await start({
      model: asking([
        ['mail', { n: 1 }],
        ['look', {}],
        ['wipe', {}],
        ['pay', { n: 2 }],
      ]),
    });
    const { contextId, jobId } = await begun(of);
    const [mail, pay] = await waiting(of, jobId);
    await of.atRest();
    expect(await row(of, contextId)).toMatchObject({
      scheduling_status: 'waiting',
      state: 'AwaitingToolApproval',
      lease_owner: null,
      failed_claims: 0,
    });
    expect(ran.map(({ name }) => name)).toEqual(['look']);
    const [, , denied] = await of.history(contextId);
    expect(JSON.stringify(denied?.content)).toContain('Denied: this call is not allowed here');
    await of.judge(contextId, { toolCallId: pay ?? null });
    await of.until(() => ran.length === 2);
    await waiting(of, jobId);
    await of.judge(contextId, { toolCallId: mail ?? null });
    expect(await of.ended(jobId)).toMatchObject({ status: 'completed', attempt: 1 });
    expect(ran.map(({ name, key }) => [name, key])).toEqual([
      ['look', expect.any(String)],
      ['pay', pay],
      ['mail', mail],
    ]);
    expect((await events(of, contextId, 'Approval%')).map(({ name }) => name)).toEqual([
      'ApprovalRequested',
      'ApprovalRequested',
      'ApprovalResolved',
      'ApprovalResolved',
    ]);
    await expectAtRest(of, contextId);
  });

  test('runs with the arguments of the person who approved it; history keeps those of the model', async () => {
    const of = await start({ model: asking([['mail', { to: 'all' }]]) });
    const { contextId, jobId } = await begun(of);
    const [mail = null] = await waiting(of, jobId);
    await of.judge(contextId, { toolCallId: mail, input: { to: 'ann' } });
    await of.ended(jobId);
    expect(ran).toEqual([{ name: 'mail', input: { to: 'ann' }, key: mail }]);
    expect((await of.history(contextId))[1]?.content).toMatchObject([{ type: 'tool_use', input: { to: 'all' } }]);
    expect(await events(of, contextId, 'ApprovalResolved')).toMatchObject([
      { data: { decision: 'approve', input: { to: 'ann' }, by: 'person', remembered: false } },
    ]);
  });

  test('does not run when it is denied, and the model learns why', async () => {
    const of = await start({ model: asking([['mail', {}]]) });
    const { contextId, jobId } = await begun(of);
    await waiting(of, jobId);
    await of.judge(contextId, { decision: 'deny', reason: 'too late' });
    await of.ended(jobId);
    expect(ran).toEqual([]);
    expect((await lines(of, contextId)).at(-1)).toBe('a1 assistant: told: Denied by the operator: too late');
    expect(await of.query('select status from tool_calls')).toEqual([{ status: 'denied' }]);
    await expectAtRest(of, contextId);
  });

  test('needs no second approval once the decision is remembered, now and later', async () => {
    const of = await start({
      model: asking(
        [
          ['mail', { n: 1 }],
          ['mail', { n: 2 }],
          ['pay', {}],
        ],
        [['mail', { n: 3 }]],
      ),
    });
    const { contextId, jobId } = await begun(of);
    const [mail = null] = await waiting(of, jobId);
    const { resolved } = await of.judge(contextId, { toolCallId: mail, remember: { lifetimeS: 60 } });
    expect(resolved).toHaveLength(2);
    await of.until(() => ran.length === 2);
    await waiting(of, jobId);
    await of.judge(contextId, { decision: 'deny' });
    await of.ended(jobId);
    expect(ran.map(({ input }) => input)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    await expectAtRest(of, contextId);
  });

  test('is required by a rule of the config, for tools of clients too; no rule lets a call run for which the tool asks', async () => {
    const of = await start({
      model: asking([
        ['look', {}],
        ['locate', {}],
        ['mail', {}],
      ]),
    });
    const { contextId } = await of.createContext();
    await of.perform(
      changeWorker({
        tenantId: DEFAULT_TENANT,
        contextId,
        change: {
          config: {
            approval: [
              { tool: 'lo*', decision: 'always' },
              { tool: 'mail', decision: 'never' },
            ],
          },
        },
        expectedVersion: null,
      }),
    );
    const { jobId } = await of.post(contextId, 'go');
    const [look = null, locate = null, mail = null] = await waiting(of, jobId);
    expect(ran).toEqual([]);
    if (locate === null) throw new Error('No approval was requested.');
    await expect(of.answer(contextId, locate, 'here')).rejects.toThrow(/not_waiting/);
    await of.judge(contextId, { toolCallId: locate, input: { who: 'ann' } });
    await of.until(async () => (await events(of, contextId, 'InputRequested')).length === 1);
    expect(await events(of, contextId, 'InputRequested')).toMatchObject([
      { data: { tool_call_id: locate, input: { who: 'ann' } } },
    ]);
    await of.judge(contextId, { toolCallId: look });
    await of.answer(contextId, locate, 'here');
    await of.judge(contextId, { toolCallId: mail });
    await of.ended(jobId);
    expect(ran.map(({ name }) => name)).toEqual(['look', 'mail']);
    await expectAtRest(of, contextId);
  });
});

describe('the wait for approval ends', () => {
  test.each([
    ['deny', 'look', 'deny', 'expired', []],
    ['approve', 'look', 'approve', 'completed', ['look']],
    // The tool itself asks for it.
    ['approve', 'mail', 'deny', 'expired', []],
    // A client runs it, and waits for its answer then.
    ['approve', 'locate', 'approve', 'unknown', []],
  ] as const)('at its deadline, by the default: %s %s', async (onExpiry, tool, decision, status, names) => {
    const of = await start({
      model: asking([[tool, {}]]),
      settings: limited({ approvalMs: 300, answerMs: 300, onExpiry, rules: [{ tool: '*', decision: 'always' }] }),
    });
    const { contextId, jobId } = await begun(of);
    await of.ended(jobId);
    expect(ran.map(({ name }) => name)).toEqual(names);
    expect(await of.query('select status from tool_calls')).toEqual([{ status }]);
    expect(await events(of, contextId, 'ApprovalResolved')).toMatchObject([
      { data: { decision, by: 'timeout', actor: null } },
    ]);
    await expectAtRest(of, contextId);
  });

  test('at its deadline, and nothing runs that a rule denies by then', async () => {
    const rules: ApprovalRule[] = [{ tool: '*', decision: 'always' }];
    const of = await start({
      model: asking([['look', {}]]),
      settings: () => ({ asking: { ...ASKING_DEFAULTS, approvalMs: 1_500, onExpiry: 'approve', rules: [...rules] } }),
    });
    const { jobId } = await begun(of);
    await waiting(of, jobId);
    rules.unshift({ tool: 'look', decision: 'deny' });
    await of.ended(jobId);
    expect(ran).toEqual([]);
    expect(await of.query('select status from tool_calls')).toEqual([{ status: 'expired' }]);
  });

  test('for a granted tool until the grant ends: then its calls need approval again', async () => {
    const of = await start({ model: asking([['mail', { n: 1 }]], [['pay', {}]], [['mail', { n: 2 }]]) });
    const { contextId, jobId } = await begun(of);
    await waiting(of, jobId);
    await of.judge(contextId, { remember: { lifetimeS: 60 } });
    // The job waits for the approval of `pay`.
    await of.until(async () => (await waiting(of, jobId)).length === 1 && ran.length === 1);
    await of.query('update approval_grants set expires_at = now()');
    await of.judge(contextId);
    await of.until(async () => (await waiting(of, jobId)).length === 1 && ran.length === 2);
    expect(ran.map(({ name }) => name)).toEqual(['mail', 'pay']);
    await of.judge(contextId);
    await of.ended(jobId);
    expect(ran.at(-1)).toMatchObject({ name: 'mail', input: { n: 2 } });
    await expectAtRest(of, contextId);
  });

  test.each(['cancel', 'interrupt'] as const)('with a %s of its job, and nothing runs', async (how) => {
    const of = await start({
      model: asking([
        ['mail', {}],
        ['look', {}],
      ]),
    });
    const { contextId, jobId } = await begun(of);
    const [mail = null] = await waiting(of, jobId);
    if (how === 'cancel') await of.cancel(jobId);
    else await of.interrupt(contextId, 'keep');
    await of.ended(jobId);
    await expect(of.judge(contextId, { toolCallId: mail })).rejects.toThrow(/not_waiting/);
    expect(ran.map(({ name }) => name)).toEqual(['look']);
    expect(await of.query(`select status from tool_calls where id = '${mail}'`)).toEqual([{ status: 'cancelled' }]);
    await expectAtRest(of, contextId);
  });

  test('of client tools and questions too, where a rule requires it', async () => {
    const of = await start({ model: asking([['locate', {}]]), settings: limited({ answerMs: 300 }) });
    const { contextId, jobId } = await begun(of);
    await of.ended(jobId);
    expect(await of.query('select status from tool_calls')).toEqual([{ status: 'unknown' }]);
    await expectAtRest(of, contextId);
  });
});
