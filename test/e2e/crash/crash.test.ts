// Die after the k-th durable effect, for every k: a real process is killed by SIGKILL, another one continues, and the
// stored result is the same, except for the outcome of a `once` call that cannot be known.
import { sql } from 'drizzle-orm';
import { afterAll, expect, test } from 'vitest';
import { perform } from '../../../src/commands/perform.ts';
import { createSchedule } from '../../../src/commands/schedules/create-schedule.ts';
import {
  DEFAULT_TENANT,
  DEFAULT_TENANT_NAME,
  type ContextId,
  type JobId,
  type ToolCallId,
} from '../../../src/core/ids.ts';
import { depth } from '../../services/depth.ts';
import { killChildren, startChild, type Child } from '../rig/children.ts';
import {
  dieAtEachKind,
  dieEverywhere,
  effectsOf,
  endedWell,
  startCrashWorker,
  type Cast,
  type Play,
} from './crash-scenarios.ts';
import { readOutside } from '../outside/outside-tools.ts';
import { openEnvironment, type TestEnvironment } from '../rig/environment.ts';
import { addHook } from '../rig/hooks.ts';
import { expectSound, history, transcript } from '../rig/stored.ts';
import { until } from '../rig/until.ts';
import { arrivals } from '../../workers/webhooks/hooks.ts';
import { startReceiver, type Receiver } from '../../workers/webhooks/receiver.ts';

afterAll(killChildren);

const LONG = { timeout: 240_000 };
/** How often a model call is refused for so long that the context is parked. */
const PARKED = depth(1, 2);

async function linesOf({ environment, contextIds }: Cast, place = 0): Promise<string[]> {
  const contextId = contextIds[place];
  if (contextId === undefined) throw new Error(`no context ${place}`);
  return transcript(await history(environment.ports.database.db, contextId));
}

/**
 * The line of a `once` call's result: unknown for those that had begun and not ended, if their result did not follow.
 */
function outcome(turn: string, name: string, begun: ReadonlySet<string>): string {
  return `${turn} tool: ${name} ← ${begun.has(name) ? 'unknown' : `${name}: done`}`;
}

const FIRST = `think: what was asked
say: let me see
call: look {}
call: put {"before_ms": 20}
call: mail {"before_ms": 40, "after_ms": 20}
call: pay {"before_ms": 80, "after_ms": 20}
---
fail: server_error times 1
fail: rate_limited retry-after 2050ms times ${PARKED}
say: done`;
const SECOND = 'say: and the second\n---\nsay: never said';

/** Every kind of step, and a second input that waits for its turn. */
const work: Play = {
  inputs: [[FIRST, SECOND]],
  async expect(cast, begun) {
    const { environment, jobIds } = cast;
    expect(await linesOf(cast)).toEqual([
      `u1 user: ${FIRST}`,
      'a1 assistant: (what was asked) let me see →look →put →mail →pay',
      'a1 tool: look ← look: done',
      'a1 tool: put ← put: done',
      outcome('a1', 'mail', begun),
      outcome('a1', 'pay', begun),
      'a1 assistant: done',
      `u2 user: ${SECOND}`,
      'a2 assistant: and the second',
    ]);
    for (const name of ['mail', 'pay']) {
      if (begun.has(name)) expect(effectsOf(environment, name)).toBeLessThanOrEqual(1);
      else expect(effectsOf(environment, name)).toBe(1);
    }
    expect(await environment.query('select id, status, steps, error from jobs order by position')).toEqual([
      { id: jobIds[0], status: 'completed', steps: 2, error: null },
      { id: jobIds[1], status: 'completed', steps: 1, error: null },
    ]);
  },
};

const GUARDED = `call: look {}
call: mail {"before_ms": 20}
call: pay {}
---
call: put {"after_ms": 20}
---
say: done`;

/** Calls that wait for a person, who approves all but one. */
const guarded: Play = {
  inputs: [[GUARDED]],
  config: {
    approval: ['mail', 'pay', 'put'].map((tool) => ({ tool, decision: 'always' })),
  },
  async person({ environment }) {
    const waiting = await environment.query(sql`select context_id, id, name from tool_calls
      where status = ${'waiting'} and waits_for = 'approval' and approval is null`);
    for (const { context_id: contextId, id, name } of waiting)
      await environment.judge(contextId as ContextId, id as ToolCallId, name === 'pay' ? 'not now' : null);
  },
  async expect(cast, begun) {
    const { environment } = cast;
    expect(await linesOf(cast)).toEqual([
      `u1 user: ${GUARDED}`,
      'a1 assistant: →look →mail →pay',
      'a1 tool: look ← look: done',
      outcome('a1', 'mail', begun),
      'a1 tool: pay ← Denied by the operator: not now',
      'a1 assistant: →put',
      'a1 tool: put ← put: done',
      'a1 assistant: done',
    ]);
    expect(effectsOf(environment, 'pay')).toBe(0);
    expect(readOutside(environment.file('outside')).filter(({ name }) => name === 'pay')).toEqual([]);
    if (!begun.has('mail')) expect(effectsOf(environment, 'mail')).toBe(1);
    // One approval request each, however often the call was evaluated, and run after the decision.
    expect(
      await environment.query(`select name, count(*)::int as n, count(distinct data ->> 'tool_call_id')::int as calls
        from events where name like 'Approval%' group by name order by name`),
    ).toEqual([
      { name: 'ApprovalRequested', n: 3, calls: 3 },
      { name: 'ApprovalResolved', n: 3, calls: 3 },
    ]);
    expect(
      await environment.query(`select name from tool_calls where name in ('mail', 'pay') and started_at < approval_at`),
    ).toEqual([]);
  },
};

const SHORT = 'call: mail {"before_ms": 20, "after_ms": 20}\n---\nsay: sent';

/** The shortest job with an effect that must not be repeated. */
const followUp: Play = {
  inputs: [[SHORT]],
  async expect(cast, begun) {
    expect(await linesOf(cast)).toEqual([
      `u1 user: ${SHORT}`,
      'a1 assistant: →mail',
      outcome('a1', 'mail', begun),
      'a1 assistant: sent',
    ]);
    if (!begun.has('mail')) expect(effectsOf(cast.environment, 'mail')).toBe(1);
    expect(await cast.environment.query('select status, steps from jobs')).toEqual([{ status: 'completed', steps: 2 }]);
  },
};

const STRUCTURED = `say: {"age": "old"}
---
call: look {}
---
say: old
---
say: {"age": 7}`;

/** An answer that does not match is followed by its faults, and asked for again, once each. */
const structured: Play = {
  inputs: [[STRUCTURED]],
  config: { output_schema: { type: 'object', properties: { age: { type: 'integer' } } } },
  async expect(cast) {
    const note = (problem: string) =>
      `a1 system: This answer does not match the JSON Schema of the job: ${problem}. Answer again, with the complete JSON and no other text.`;
    expect(await linesOf(cast)).toEqual([
      `u1 user: ${STRUCTURED}`,
      'a1 assistant: {"age": "old"}',
      note('/age must be integer (schema: #/properties/age/type)'),
      'a1 assistant: →look',
      'a1 tool: look ← look: done',
      'a1 assistant: old',
      note('the answer is not JSON, or not only JSON: it begins with "old"'),
      'a1 assistant: {"age": 7}',
    ]);
    expect(await cast.environment.query('select status, steps, corrections, has_data from jobs')).toEqual([
      { status: 'completed', steps: 4, corrections: 2, has_data: true },
    ]);
  },
};

const ENDLESS = `say: this takes long
call: look {}
call: put {"before_ms": 60000}
call: mail {"after_ms": 60000}`;

/** Cancelled once the `once` call had its effect, or after the death; then the next input. */
const cancelled: Play = {
  inputs: [[ENDLESS, 'say: next']],
  async meanwhile({ environment, jobIds: [jobId] }, first) {
    await until('the effect', () => first.ended() !== null || effectsOf(environment, 'mail') > 0);
    if (jobId !== undefined) await environment.cancel(jobId);
  },
  async expect(cast) {
    const lines = await linesOf(cast);
    if (await withdrawn(cast)) return expect(lines).toEqual(['u1 user: say: next', 'a1 assistant: next']);
    expect(lines[0]).toBe(`u1 user: ${ENDLESS}`);
    expect(lines.slice(-2)).toEqual(['u2 user: say: next', 'a2 assistant: next']);
    const answer = lines.slice(1, -2);
    if (answer.length > 0) {
      expect(answer).toHaveLength(4);
      expect(answer[0]).toBe('a1 assistant: this takes long →look →put →mail');
      expect(answer[1]).toMatch(/^a1 tool: look ← (look: done|Cancelled while)/);
      expect(answer[2]).toMatch(/^a1 tool: put ← Cancelled while/);
      const known =
        effectsOf(cast.environment, 'mail') === 0 ? '(Cancelled before|Cancelled after)' : 'Cancelled after';
      expect(answer[3]).toMatch(new RegExp(`^a1 tool: mail ← ${known}`));
    }
    await expectReceipt(cast);
    expect(await cast.environment.query('select status from jobs order by position')).toEqual([
      { status: 'cancelled' },
      { status: 'completed' },
    ]);
  },
};

/** Interrupted once the `once` call had its effect, or after the death; then the next input. */
const interrupted: Play = {
  inputs: [[ENDLESS, 'say: next']],
  async meanwhile({ environment, contextIds: [contextId] }, first) {
    await until('the effect', () => first.ended() !== null || effectsOf(environment, 'mail') > 0);
    if (contextId !== undefined) await environment.interrupt(contextId, 'discard');
  },
  async expect(cast) {
    const [input, ...more] = await linesOf(cast);
    expect(input).toBe(`u1 user: ${ENDLESS}`);
    expect(more.slice(-2)).toEqual(['u2 user: say: next', 'a2 assistant: next']);
    const notes = more.slice(0, -2);
    expect(notes.length).toBeLessThanOrEqual(1);
    const [note] = notes;
    if (note !== undefined) expect(note).toMatch(/^a1 system: An answer was interrupted.*look\(.*put\(/);
    if (effectsOf(cast.environment, 'mail') > 0) expect(note).toContain('mail(');
    const [retracted] = await cast.environment.query(`
      select count(*) filter (where role = 'assistant') as answers,
        count(*) filter (where role = 'user') as inputs from messages where status = 'retracted'`);
    expect(retracted).toEqual({ answers: note === undefined ? 0 : 1, inputs: 0 });
    await expectReceipt(cast, 'interrupt');
    expect(await cast.environment.query('select status from jobs order by position')).toEqual([
      { status: 'interrupted' },
      { status: 'completed' },
    ]);
  },
};

const HALF = 'say: half of it\nwait: 1h';

/** Cancelled while its answer is being written, or after the death; then the next input. */
const stopped: Play = {
  inputs: [[HALF, 'say: next']],
  async meanwhile({ environment, jobIds: [jobId] }, first) {
    const isCalled = `select 1 from contexts where state = 'AwaitingLLMResponse'`;
    await until('the call', async () => first.ended() !== null || (await environment.query(isCalled)).length > 0);
    if (jobId !== undefined) await environment.cancel(jobId);
  },
  async expect(cast) {
    const lines = await linesOf(cast);
    const isWithdrawn = await withdrawn(cast);
    const turns = ['u2 user: say: next', 'a2 assistant: next'];
    expect(lines).toEqual(isWithdrawn ? ['u1 user: say: next', 'a1 assistant: next'] : [`u1 user: ${HALF}`, ...turns]);
    // Once or not at all, and beside the history.
    const kept = await cast.environment.query(`
      select m.content -> 0 ->> 'text' as text, m.status, m.turn, j.status as job from messages m join jobs j on j.id = m.job_id
      where m.type = 'partial'`);
    expect(kept.length).toBeLessThanOrEqual(isWithdrawn ? 0 : 1);
    for (const one of kept)
      expect(one).toEqual({ text: 'half of it', status: 'retracted', turn: 'a1', job: 'cancelled' });
    await expectReceipt(cast);
  },
};

/** It was cancelled before a process had begun it. */
async function withdrawn({ environment, jobIds: [jobId] }: Cast): Promise<boolean> {
  const rows = await environment.query(`
    select 1 from jobs where id = '${jobId}' and status = 'cancelled' and started_at is null`);
  return rows.length > 0;
}

/**
 * Requested, then received (if a process was alive to receive it, whose clock may be a little behind), then stopped.
 */
async function expectReceipt({ environment, jobIds: [jobId] }: Cast, kind = 'cancel'): Promise<void> {
  const [row] = await environment.query(`
    select stop_kind, stop_requested_at <= stopped_at as stopped, stopped_at <= finished_at as ended,
      coalesce(stop_delivered_at between stop_requested_at - interval '10 seconds' and stopped_at, true) as received
    from jobs where id = '${jobId}'`);
  expect(row).toEqual({ stop_kind: kind, stopped: true, ended: true, received: true });
}

const THINKING = 'wait: 2s\nsay: thought';
const MAILING = 'call: mail {"before_ms": 300, "after_ms": 300}\n---\nsay: mailed';
const PUTTING = 'call: put {"before_ms": 2000}\n---\nsay: there';

/** Gets a stop request while a model call, a `once` call and an idempotent one are in progress. */
const drained: Play = {
  inputs: [[THINKING], [MAILING], [PUTTING]],
  async meanwhile({ environment }, first) {
    await until('all three', () => first.ended() !== null || readOutside(environment.file('outside')).length >= 2);
    first.signal('SIGTERM');
    await first.exited;
  },
  async expect(cast, begun) {
    expect(await linesOf(cast, 0)).toEqual([`u1 user: ${THINKING}`, 'a1 assistant: thought']);
    expect(await linesOf(cast, 1)).toEqual([
      `u1 user: ${MAILING}`,
      'a1 assistant: →mail',
      outcome('a1', 'mail', begun),
      'a1 assistant: mailed',
    ]);
    expect(await linesOf(cast, 2)).toEqual([
      `u1 user: ${PUTTING}`,
      'a1 assistant: →put',
      'a1 tool: put ← put: done',
      'a1 assistant: there',
    ]);
    expect(await cast.environment.query('select distinct status from jobs')).toEqual([{ status: 'completed' }]);
  },
};

const SPAWNING = `call: spawn_worker {"input": "say: first"}
call: look {}
call: spawn_worker {"input": "call: spawn_worker {\\"input\\": \\"say: deep\\"}\\n---\\nsay: second"}
call: spawn_worker {"input": "say: third", "wait": false}
---
say: all are back`;

/** Workers that make workers, and wait for them: each call makes one, and gets its end once. */
const spawning: Play = {
  inputs: [[SPAWNING]],
  async expect(cast) {
    const { environment } = cast;
    const lines = await linesOf(cast);
    const onRun = lines.filter((line) => line.startsWith('a1 tool: spawn_worker')).map(outputIn);
    expect(onRun.toSorted()).toEqual(['first', 'none', 'second']);
    expect(lines[6]).toBe('a1 assistant: all are back');
    // No call waits for the third: its end is an input of its own, once.
    expect(lines).toHaveLength(9);
    expect(lines[7]).toMatch(/^u2 user: .*third/s);
    expect(lines[8]).toMatch(/^a2 assistant: /);
    expect(await environment.query('select status, count(*)::int as n from jobs group by status')).toEqual([
      { status: 'completed', n: 6 },
    ]);
    expect(await environment.query('select count(distinct parent_tool_call_id)::int as n from jobs')).toEqual([
      { n: 4 },
    ]);
    expect(await environment.query('select 1 from awaited_jobs')).toEqual([]);
  },
};

/** The answer of a child, as the result of the call that made it contains it. */
function outputIn(line: string): string {
  const onRun: unknown = JSON.parse(line.slice(line.indexOf('{')));
  const output = typeof onRun === 'object' && onRun !== null && 'output' in onRun ? onRun.output : null;
  return typeof output === 'string' ? output : 'none';
}

/** The effects at which a process dies in the gate; at full depth it dies at every one. */
type Gate = 'every' | 'kinds' | 'none';

/** Two schedules that are due while the first process runs: one posts to a context, one makes a worker. */
const scheduled: Play = {
  inputs: [[]],
  async meanwhile({ environment: { ports }, contextIds: [contextId] }) {
    if (contextId === undefined) throw new Error('no context');
    const worker = { name: 'w', role: null, config: { model: 'simulated/default' } };
    const targets = [{ kind: 'context', contextId } as const, { kind: 'worker', worker } as const];
    for (const target of targets) {
      const made = await perform(
        ports,
        createSchedule(ports, {
          tenantId: DEFAULT_TENANT,
          user: null,
          actor: { kind: 'operator', id: null, user: null, onBehalfOf: null },
          name: 's',
          timing: { kind: 'at', at: Date.now() + 2_000 },
          timezone: 'UTC',
          target,
          content: 'say: done',
          overlap: 'interrupt',
          catchUp: 'one',
          jitterS: 0,
          paused: false,
        }),
      );
      expect(made.kind).toBe('done');
    }
  },
  async expect({ environment }) {
    const runs =
      await environment.query(`select r.status, j.status as job, s.next_occurrence, s.last_job_id = r.job_id as last
      from schedule_runs r join schedules s on s.id = r.schedule_id join jobs j on j.id = r.job_id`);
    const run = { status: 'started', job: 'completed', next_occurrence: null, last: true };
    expect(runs).toEqual([run, run]);
    expect(await environment.query('select count(*)::int as n from jobs')).toEqual([{ n: 2 }]);
  },
};

/** Two inputs of one context that start together, while the first process runs; and one that is there from the beginning. */
const delayed: Play = {
  inputs: [['say: now']],
  async meanwhile({ environment, contextIds: [contextId] }) {
    if (contextId === undefined) throw new Error('no context');
    for (const text of ['say: later', 'say: last']) await environment.delay(contextId, text, 2);
  },
  async expect(cast) {
    expect(await linesOf(cast)).toEqual([
      'u1 user: say: now',
      'a1 assistant: now',
      'u2 user: say: later',
      'a2 assistant: later',
      'u3 user: say: last',
      'a3 assistant: last',
    ]);
    expect(
      await cast.environment
        .query(`select j.status, j.position::int as position, j.started_at >= j.starts_at as "inTime",
        (select count(*)::int from events e where e.name = 'JobStarted' and e.data->>'job_id' = j.id::text) as begins
        from jobs j order by j.id`),
    ).toEqual([null, true, true].map((inTime, at) => ({ status: 'completed', position: at + 1, inTime, begins: 1 })));
  },
};

/** A worker and a further input of it, submitted in one transaction, while the first process runs; and one input that is refused. */
const submitted: Play = {
  inputs: [[]],
  async meanwhile({ environment: { ports }, contextIds: [contextId], jobIds }) {
    if (contextId === undefined) throw new Error('no context');
    const made = ports.ids.next<ContextId>();
    const worker = { worker_id: ports.ids.next(), name: 'w', config: { model: 'simulated/default' } };
    await ports.database.transaction(async (tx) => {
      for (const body of [
        { context_id: made, ...worker, input: { content: 'say: one' } },
        { context_id: made, input: { content: 'say: two' } },
        { context_id: contextId, input: { content: 'say: never', branch: 'absent' } },
      ]) {
        const jobId = ports.ids.next<JobId>();
        jobIds.push(jobId);
        const whole = JSON.stringify({ job_id: jobId, message_id: ports.ids.next(), ...body });
        await tx.execute(sql`select nightshift_submit_v1(${DEFAULT_TENANT_NAME}, ${whole})`);
      }
    });
  },
  async expect({ environment, jobIds: [one, two, refused] }) {
    expect(await environment.query('select id, status, position::int as position from jobs order by position')).toEqual(
      [
        { id: one, status: 'completed', position: 1 },
        { id: two, status: 'completed', position: 2 },
      ],
    );
    expect(await environment.query(`select id, status, error ->> 'code' as code from submissions`)).toEqual([
      { id: refused, status: 'failed', code: 'not_found' },
    ]);
    expect(await environment.query('select count(*)::int as n from workers')).toEqual([{ n: 2 }]);
  },
};

const receivers = new Map<TestEnvironment, Receiver>();
afterAll(async () => {
  for (const receiver of receivers.values()) await receiver.close();
});

/** Jobs whose begins and ends are sent to a webhook. */
const hooked: Play = {
  inputs: [[]],
  async meanwhile({ environment, contextIds: [contextId], jobIds }) {
    if (contextId === undefined) throw new Error('no context');
    const receiver = await startReceiver();
    receivers.set(environment, receiver);
    await addHook(environment, receiver);
    for (const text of ['say: one', 'say: other']) jobIds.push(await environment.post(contextId, text));
  },
  async expect({ environment, jobIds }) {
    const receiver = receivers.get(environment);
    if (receiver === undefined) throw new Error('no receiver');
    const { received } = receiver;
    expect(received.map(({ isSigned }) => isSigned)).toEqual(received.map(() => true));
    for (const jobId of jobIds) {
      // The one that its process did not store may arrive again.
      const arrived = [...new Set(arrivals(receiver, jobId).map(([type, seq]) => `${type} ${seq}`))];
      expect(arrived).toEqual(['job.started 1', 'job.finished 2']);
    }
    const rows = await environment.query('select id, job_id, type, seq, status from webhook_deliveries order by id');
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(received.map(({ id }) => id)));
    expect(rows).toMatchObject(
      jobIds.flatMap((job_id) =>
        ['job.started', 'job.finished'].map((type, at) => ({ job_id, type, seq: at + 1, status: 'delivered' })),
      ),
    );
    await receiver.close();
    receivers.delete(environment);
  },
};

/** There are at least `least` effects of at least `kinds`. */
type Entry = { what: string; play: Play; least: number; kinds: number; after: Gate; before: Gate };

const PLAYS: Entry[] = [
  {
    what: 'of workers that make workers',
    play: spawning,
    least: 10,
    kinds: 3,
    after: 'kinds',
    before: 'none',
  },
  {
    what: 'of a job with every kind of step',
    play: work,
    least: 13,
    kinds: 3,
    after: 'every',
    before: 'kinds',
  },
  {
    what: 'of a job whose calls wait for approval',
    play: guarded,
    least: 10,
    kinds: 3,
    after: 'kinds',
    before: 'none',
  },
  { what: 'of a structured answer', play: structured, least: 4, kinds: 2, after: 'every', before: 'none' },
  { what: 'of schedules', play: scheduled, least: 6, kinds: 2, after: 'kinds', before: 'kinds' },
  { what: 'of delayed inputs', play: delayed, least: 6, kinds: 3, after: 'kinds', before: 'none' },
  { what: 'of submissions', play: submitted, least: 5, kinds: 3, after: 'kinds', before: 'kinds' },
  { what: 'of deliveries to a webhook', play: hooked, least: 8, kinds: 5, after: 'kinds', before: 'kinds' },
  { what: 'of a follow-up', play: followUp, least: 5, kinds: 3, after: 'none', before: 'none' },
  { what: 'around a cancel', play: cancelled, least: 7, kinds: 3, after: 'kinds', before: 'kinds' },
  { what: 'around an interrupt', play: interrupted, least: 7, kinds: 3, after: 'kinds', before: 'kinds' },
  {
    what: 'of a stop in mid-answer',
    play: stopped,
    least: 4,
    kinds: 2,
    after: 'kinds',
    before: 'kinds',
  },
  { what: 'while it drains', play: drained, least: 7, kinds: 3, after: 'kinds', before: 'none' },
];

async function die({ what, play, least, kinds, ...gate }: Entry, when: 'before' | 'after') {
  const isEach = depth(gate[when] === 'every', true);
  const died = await (isEach ? dieEverywhere(play, when) : dieAtEachKind(play, when));
  process.stdout.write(`died right ${when} ${died} effects ${what}${isEach ? '' : ', one of each kind'}\n`);
  expect(died).toBeGreaterThanOrEqual(isEach ? least : kinds);
}

test.each(PLAYS.filter(({ after }) => depth(after !== 'none', true)))(
  'a process that dies right after an effect leaves state that another process completes unchanged: $what',
  LONG,
  (entry) => die(entry, 'after'),
);

test.each(PLAYS.filter(({ before }) => depth(before !== 'none', true)))(
  'a process that dies right before an effect leaves state that another process completes unchanged: $what',
  LONG,
  (entry) => die(entry, 'before'),
);

async function withWorker(work: (environment: TestEnvironment, worker: Child) => Promise<void>): Promise<void> {
  const environment = await openEnvironment();
  try {
    const worker = startCrashWorker(environment);
    await worker.says(/^up$/);
    await work(environment, worker);
    await environment.settled();
    expect(await endedWell(worker)).toBe(true);
  } finally {
    await killChildren();
    await environment.close();
  }
}

/** How much is stored. */
const STORED = `select (select count(*)::int from workers) as workers, (select count(*)::int from contexts) as contexts,
  (select count(*)::int from messages) as messages, (select count(*)::int from jobs) as jobs`;

async function dies(environment: TestEnvironment, ...args: string[]): Promise<void> {
  const client = startChild('test/e2e/crash/crash-client.ts', args, environment.env);
  expect(await client.exited, client.lines.join('\n')).toEqual({ code: null, signal: 'SIGKILL' });
}

test(
  'a cancel whose process dies between its commit and its signal is received with the next heartbeat',
  LONG,
  async () => {
    await withWorker(async (environment, worker) => {
      const contextId = await environment.createContext({ model: 'simulated/default' });
      const jobId = await environment.post(contextId, 'wait: 1h\nsay: late');
      await environment.post(contextId, 'say: next');
      await until(
        'the model call',
        async () => (await environment.query('select 1 from contexts where lease_owner is not null')).length > 0,
      );
      await dies(environment, 'before', 'cancel', jobId);
      expect(await environment.query(`select status, stop_kind from jobs where id = '${jobId}'`)).toEqual([
        { status: 'running', stop_kind: null },
      ]);
      await dies(environment, 'after', 'cancel', jobId);
      await environment.settled();
      await expectReceipt({ environment, contextIds: [contextId], jobIds: [jobId] });
      const [row] = await environment.query(`
      select stop_reason, stop_delivered_at is not null as received from jobs where id = '${jobId}'`);
      expect(row).toMatchObject({ stop_reason: 'crash', received: true });
      // Its owner received it: no sweep had to fence that off.
      expect(worker.lines.filter((line) => line.includes('not answered in time'))).toEqual([]);
      expect(await linesOf({ environment, contextIds: [contextId], jobIds: [] })).toEqual([
        'u1 user: wait: 1h\nsay: late',
        'u2 user: say: next',
        'a2 assistant: next',
      ]);
      await expectSound(environment.ports.database.db, contextId);
    });
  },
);

test(
  'a worker with an input whose process dies before its commit is not stored; one after it is found by the sweep',
  LONG,
  async () => {
    await withWorker(async (environment) => {
      await dies(environment, 'before', 'create');
      expect(await environment.query(STORED)).toEqual([{ workers: 0, contexts: 0, messages: 0, jobs: 0 }]);
      await dies(environment, 'after', 'create');
      await environment.settled();
      expect(await environment.query(STORED)).toEqual([{ workers: 1, contexts: 1, messages: 2, jobs: 1 }]);
      const [made] = await environment.query('select id from contexts');
      const contextId = made?.['id'] as ContextId;
      expect(await linesOf({ environment, contextIds: [contextId], jobIds: [] })).toEqual([
        'u1 user: say: heard',
        'a1 assistant: heard',
      ]);
      await expectSound(environment.ports.database.db, contextId);
    });
  },
);

test(
  'an input whose process dies before its commit is not stored; one after it is found by the sweep',
  LONG,
  async () => {
    await withWorker(async (environment) => {
      const contextId = await environment.createContext({ model: 'simulated/default' });
      await dies(environment, 'before', 'submit', contextId);
      expect(await environment.query('select 1 from jobs union all select 1 from messages')).toEqual([]);
      await dies(environment, 'after', 'submit', contextId);
      await environment.settled();
      expect(await linesOf({ environment, contextIds: [contextId], jobIds: [] })).toEqual([
        'u1 user: say: heard',
        'a1 assistant: heard',
      ]);
      await expectSound(environment.ports.database.db, contextId);
    });
  },
);

test(
  'a decision whose process dies before its commit is not stored; one after it is found by the sweep',
  LONG,
  async () => {
    await withWorker(async (environment) => {
      const contextId = await environment.createContext({
        model: 'simulated/default',
        tools: ['mail'],
        approval: [{ tool: 'mail', decision: 'always' }],
      });
      await environment.post(contextId, 'call: mail {}\n---\nsay: mailed');
      const approvals = () => environment.query("select approval from tool_calls where status = 'waiting'");
      const grants = () => environment.query('select tool from approval_grants');
      await until('the wait', async () => (await approvals()).length > 0);
      await until(
        'the lease to be released',
        async () => (await environment.query('select 1 from contexts where lease_owner is null')).length > 0,
      );
      await dies(environment, 'before', 'approve', contextId);
      expect(await approvals()).toEqual([{ approval: null }]);
      expect(await grants()).toEqual([]);
      await dies(environment, 'after', 'approve', contextId);
      // The grant is stored with the decision.
      expect(await grants()).toEqual([{ tool: 'mail' }]);
      await environment.settled();
      expect(effectsOf(environment, 'mail')).toBe(1);
      await expectSound(environment.ports.database.db, contextId);
    });
  },
);
