// Each check can fail: a small sound world passes all of them, and each way of breaking it is found by its check.
import { describe, expect, test } from 'vitest';
import { CHECKS, violationsOf } from './checks/all.ts';
import { receivedWhole } from './checks/streams.ts';
import { word } from './clients/inputs.ts';
import { BROKEN_APPROVALS, soundApproval } from './world/broken-approvals.ts';
import { BROKEN_CONVERSATIONS } from './world/broken-conversations.ts';
import { BROKEN_KEYS } from './world/broken-keys.ts';
import { BROKEN_OUTCOMES, soundOutcome } from './world/broken-outcomes.ts';
import { BROKEN_REPAIRS, drainWithoutPostgres } from './world/broken-repairs.ts';
import { BROKEN_SCHEDULES } from './world/broken-schedules.ts';
import { BROKEN_SERVICE } from './world/broken-service.ts';
import { BROKEN_TREES } from './world/broken-tree.ts';
import { BROKEN_WEBHOOKS } from './world/broken-webhooks.ts';
import { soundTree } from './world/sound-tree.ts';
import { soundConversation } from './world/sound-conversation.ts';
import { event, text, toolResult } from './world/builders.ts';
import { soundWorld, type Sound } from './world/sound-world.ts';
import { foundOut } from './world/unanswered.ts';
import type { Moment, PostDelay, Posted, Stop, TenantJob, World } from './world/world.ts';

test('a sound world passes every check', () => {
  const { world } = soundWorld();
  expect(violationsOf(world)).toEqual([]);
  expect(receivedWhole(world)).toEqual({ whole: 1, part: 0 });
});

test('a process that drains without PostgreSQL may keep its leases', () => {
  const sound = soundWorld();
  drainWithoutPostgres(sound);
  expect(foundBy('operated', sound.world)).toEqual([]);
});

test('a stop that ended a running job, and a refusal meanwhile, pass the checks', () => {
  const sound = soundWorld();
  const { world, done, second } = sound;
  stopped(sound, { asked: moment(44), stopped: { ...moment(48), reported: 'stopped' } });
  Object.assign(done, {
    status: 'cancelled',
    steps: 1,
    output_message_id: null,
    stop_kind: 'stop',
    stop_requested_at: 46,
    stopped_at: 50,
  });
  expect(violationsOf(world).filter(({ check }) => check === 'stops')).toEqual([]);
  expect(violationsOf(world).filter(({ check, what }) => check === 'endings' && /for no reason/.test(what))).toEqual(
    [],
  );
  Object.assign(second, {
    firstSentAt: 49,
    outcome: { kind: 'refused', code: 'worker_stopped', at: 55 },
  });
  expect(violationsOf(world).filter(({ check }) => check === 'stops')).toEqual([]);
});

test('a queued job that a worker asked for ends with a stop of that worker, although the job that asked is complete', () => {
  const { world, done, second, cancelled } = soundWorld();
  const faults = (): string[] =>
    violationsOf(world).flatMap(({ check, what }) => (check === 'endings' && /for no reason/.test(what) ? [what] : []));
  Object.assign(second, { cancelled: false });
  Object.assign(cancelled, { parent_job_id: done.id, stop_reason: 'a worker above it was stopped' });
  expect(faults()).toEqual(['the job ended cancelled (a worker above it was stopped), for no reason']);
  world.stops.push({ contextId: 'c', asked: moment(44), stopped: null, startRequested: null, started: null });
  expect(faults()).toEqual([]);
});

test('a job may end as a crash loop by five faults since its last message, and by no fewer', () => {
  const { world, done, answer } = soundWorld();
  const reasons = (): string[] =>
    violationsOf(world).flatMap(({ check, what }) => (check === 'endings' && /for no reason/.test(what) ? [what] : []));
  Object.assign(done, { status: 'failed', error_code: 'crash_loop', output_message_id: null });
  Object.assign(answer, { status: 'retracted' });
  const strike = (wall: number, endsRuns = true) =>
    world.faults.push({ kind: 'worker killed', target: 'worker-1', at: 0, wall, ms: 1, endsRuns, missed: null });
  for (const wall of [31, 35, 40, 45]) strike(wall);
  strike(28);
  strike(41, false);
  strike(51);
  expect(reasons()).toEqual(['the job ended failed (crash_loop), for no reason']);
  strike(49);
  expect(reasons()).toEqual([]);
});

test('an input that was sent once and got no answer was stored once, not at all, or as the answer to a question', () => {
  const { world, first, second, input, call } = soundWorld();
  const unanswered = (one: Posted): Posted => ({ ...one, key: null, outcome: { kind: 'unknown' } });
  expect(foundOut(first, world)).toBe(first);
  expect(foundOut(unanswered(first), world).outcome).toMatchObject({
    kind: 'accepted',
    jobId: 'job-1',
    messageId: 'm-1',
    branch: 'main',
  });
  expect(foundOut(unanswered({ ...second, tag: 'i-9' }), world).outcome).toMatchObject({ code: 'no_answer' });
  call.reply = { content: `say: ${word('i-9')}`, isError: false };
  expect(foundOut(unanswered({ ...second, tag: 'i-9' }), world).outcome).toMatchObject({
    kind: 'accepted',
    jobId: 'job-1',
    messageId: 'call',
  });
  const twice: World = { ...world, inputs: [unanswered(first), second].map((one) => foundOut(one, world)) };
  expect(violationsOf(twice)).toEqual([]);
  world.messages.push({ ...input, id: 'm-3', seq: 9 });
  expect(violationsOf(twice).map(({ what }) => what)).toContain('the input is stored 2 times');
});

test('a message that an edit replaced may be retracted later', () => {
  const { world, input } = soundConversation();
  Object.assign(input, { status: 'retracted' });
  world.events.push(event(27, 'MessagesRetracted', { message_ids: [input.id] }));
  const returned = violationsOf(world).filter(({ what }) => /does not show the message/.test(what));
  expect(returned.filter(({ ids }) => ids.includes('i-3'))).toEqual([]);
});

test.each([
  [
    'an outcome that a person reported',
    ({ reported }: World, callId: string) => reported.push({ contextId: 'c', callId, outcome: 'happened' }),
  ],
  ['a result that committed with its effect', ({ service }: World, callId: string) => service.sales.rows.push(callId)],
])('%s may be in a note alone, where an interrupt retracted its answer', (_, settle) => {
  const { world, result, asked, call } = soundWorld();
  world.messages.splice(world.messages.indexOf(result), 1);
  Object.assign(asked, { status: 'retracted' });
  world.messages.push({
    ...asked,
    id: 'n-1',
    role: 'system',
    status: 'completed',
    content: [text('mail({})')],
  });
  const ofOnce = () => violationsOf(world).filter(({ check }) => check === 'once');
  expect(ofOnce()).toMatchObject([{ what: 'a completed call has another result' }]);
  settle(world, call.id);
  expect(ofOnce()).toEqual([]);
  world.messages.pop();
  expect(ofOnce()).toMatchObject([{ what: 'a call that began was retracted without a note' }]);
});

test('a call without effect may have begun for a lost answer; a once-only call may not', () => {
  const { world } = soundWorld();
  const begin = (name: string) => world.outside.push({ what: 'begin', name, key: `lost ${name}` });
  begin('look');
  const ofOnce = () => violationsOf(world).filter(({ check }) => check === 'once');
  expect(ofOnce()).toEqual([]);
  begin('put');
  expect(ofOnce()).toMatchObject([{ what: 'a tool ran for a call that no model asked for' }]);
});

/** By check: how a world is broken, and part of the expected violation. */
const BROKEN: Readonly<Record<string, readonly [string, (sound: Sound) => void, RegExp][]>> = {
  idle: [
    ['work is in progress when the time is up', ({ world }) => void world.unsettled.push('job x'), /not idle in time/],
    [
      'a context is owned',
      ({ context }) => Object.assign(context, { scheduling_status: 'running', lease_owner: 'p' }),
      /still owned/,
    ],
    [
      'a sweep is due for a context',
      ({ context }) => Object.assign(context, { next_check_at: 5 }),
      /a sweep is still due/,
    ],
    ['a state is not idle', ({ context }) => Object.assign(context, { state: 'ExecutingTools' }), /stays in state/],
    ['a counter of the queue is wrong', ({ context }) => Object.assign(context, { queued: 1 }), /counts 1 queued/],
    ['an input waits forever to join', ({ context }) => Object.assign(context, { steers: 1 }), /wait to join/],
    ['failed claims are left', ({ context }) => Object.assign(context, { failed_claims: 2 }), /failed claims/],
    [
      'a counter of messages is wrong',
      ({ context }) => Object.assign(context, { message_count: 5 }),
      /message_count is 5/,
    ],
    ['a counter of turns is wrong', ({ context }) => Object.assign(context, { turn_count: 2 }), /turn_count is 2/],
    [
      'a counter of requests is wrong',
      ({ context }) => Object.assign(context, { request_count: 3 }),
      /request_count is 3/,
    ],
    [
      'tokens of a context are wrong',
      ({ context }) => Object.assign(context, { output_tokens: 0 }),
      /output_tokens is 0/,
    ],
    [
      'the size of the messages is wrong',
      ({ context }) => Object.assign(context, { stored_bytes: 40 }),
      /stored_bytes is 40, stored are 50/,
    ],
    ['tokens of a job are wrong', ({ done }) => Object.assign(done, { input_tokens: 10 }), /input_tokens of the job/],
    ['a queued input has no job', ({ withdrawn }) => Object.assign(withdrawn, { status: 'queued' }), /without its job/],
  ],
  accepted: [
    ['a job is lost', ({ world, done }) => remove(world.jobs, done), /has no job/],
    ['a job has no input', ({ world, second }) => remove(world.inputs, second), /of no accepted key/],
    [
      'two keys are one job',
      ({ second, first }) => Object.assign(second, { outcome: first.outcome }),
      /for several keys/,
    ],
    [
      'an input never got through',
      ({ second }) => Object.assign(second, { outcome: { kind: 'pending' } }),
      /never got through/,
    ],
    [
      'a refused input is stored',
      ({ second }) => Object.assign(second, { outcome: { kind: 'refused', code: 'context_busy', at: 15 } }),
      /refused input is stored/,
    ],
    [
      'an input is stored twice',
      ({ world, input }) => void world.messages.push({ ...input, id: 'm-3', seq: null, status: 'withdrawn' }),
      /stored 2 times/,
    ],
    ['a job is of another context', ({ first }) => Object.assign(first, { contextId: 'other' }), /of another context/],
    ['a job answers another input', ({ done }) => Object.assign(done, { message_id: 'm-9' }), /another input/],
    ['an accepted change is lost', ({ first }) => Object.assign(first, { edited: 'taken' }), /accepted and is missing/],
    [
      'a refused change is stored',
      ({ input }) => Object.assign(input, { content: [text(`# edited\nsay: ${word('i-1')}`)] }),
      /refused and is stored/,
    ],
    ['a withdrawal is forgotten', ({ first }) => Object.assign(first, { withdrawn: 'taken' }), /withdrawn, and is not/],
    ['a priority is forgotten', ({ first }) => Object.assign(first, { priority: 1 }), /priority became 5/],
    [
      'a key is answered twice',
      ({ world }) => void world.repeats.push({ tag: 'i-1', first: 'job-1', again: 'job-3' }),
      /answered differently/,
    ],
  ],
  endings: [
    ['a job does not end', ({ done }) => Object.assign(done, { status: 'running', finished_at: null }), /never ended/],
    ['a job ends twice', ({ world, end }) => void world.events.push({ ...end, seq: 9 }), /end is published 2 times/],
    [
      'a job begins twice',
      ({ world, begin }) => void world.events.push({ ...begin, seq: 9 }),
      /begin is published 2 times/,
    ],
    [
      'an end is published with another status',
      ({ end }) => Object.assign(end, { data: { ...end.data, status: 'failed' } }),
      /published as failed/,
    ],
    [
      'a job fails for no reason',
      ({ done }) => Object.assign(done, { status: 'failed', error_code: 'crash_loop' }),
      /failed \(crash_loop\), for no reason/,
    ],
    [
      'a job is cancelled for no reason',
      ({ second }) => Object.assign(second, { cancelled: false }),
      /cancelled, for no reason/,
    ],
    [
      'a job is interrupted for no reason',
      ({ done }) => Object.assign(done, { status: 'interrupted' }),
      /interrupted, for no reason/,
    ],
    [
      'one request interrupts two jobs',
      (sound) => {
        sound.world.interrupts.push({ contextId: 'c', mode: 'keep', jobId: null, removed: null });
        for (const job of sound.world.jobs) Object.assign(job, { status: 'interrupted' });
      },
      /2 jobs were interrupted for 1 requests/,
    ],
    [
      'a client saw another end',
      ({ world }) => void world.sightings.push({ jobId: 'job-1', status: 'cancelled', outputId: null }),
      /received cancelled/,
    ],
  ],
  answers: [
    [
      'an input is answered twice',
      ({ world, answer }) => void world.messages.push({ ...answer, id: 'a-3', seq: 9 }),
      /answered 2 times/,
    ],
    ['an answer is lost', ({ world, answer }) => remove(world.messages, answer), /not its last answer/],
    [
      'an answer is to no input',
      ({ answer }) => Object.assign(answer, { content: [text(word('i-9'))] }),
      /to no input/,
    ],
    [
      'a completed answer was retracted',
      ({ answer }) => Object.assign(answer, { status: 'retracted' }),
      /was retracted/,
    ],
    ['steps are counted wrong', ({ done }) => Object.assign(done, { steps: 3 }), /counts 3 steps/],
    [
      'a step is played twice',
      ({ world, asked }) => void world.messages.push({ ...asked, id: 'a-9', seq: 2.5 }),
      /where the script has/,
    ],
    [
      'another tool is called',
      ({ asked }) => Object.assign(asked, { content: [{ type: 'tool_use', id: 'call', name: 'pay', input: {} }] }),
      /where the script has/,
    ],
  ],
  once: [
    [
      'a mail is sent twice',
      ({ world }) => void world.outside.push({ what: 'begin', name: 'mail', key: 'call' }),
      /began 2 times/,
    ],
    [
      'a mail has its effect twice',
      ({ world }) => void world.outside.push({ what: 'effect', name: 'mail', key: 'call' }),
      /happened 2 times/,
    ],
    [
      'money that was wired is reported as not wired',
      ({ world, call }) => {
        Object.assign(call, { name: 'wire', status: 'cancelled' });
        for (const line of world.outside) Object.assign(line, { name: 'wire' });
      },
      /reported as not run/,
    ],
    ['a mail is reported as sent', ({ world }) => void world.outside.splice(0), /had no effect/],
    ['a mail that was sent was never marked', ({ call }) => Object.assign(call, { started_at: null }), /never marked/],
    [
      'a mail that was sent is reported as not run',
      ({ call }) => Object.assign(call, { status: 'cancelled' }),
      /reported as not run/,
    ],
    [
      'a mail that no model asked for',
      ({ world }) => void world.outside.push({ what: 'begin', name: 'mail', key: 'x' }),
      /no model asked for/,
    ],
    [
      'an unknown outcome is reported as a success',
      ({ call }) => Object.assign(call, { status: 'unknown' }),
      /outcome is not reported/,
    ],
    [
      'a call that was retracted is forgotten',
      ({ world, result, asked, call }) => (
        remove(world.messages, result),
        Object.assign(asked, { status: 'retracted' }),
        Object.assign(call, { status: 'unknown' })
      ),
      /without a note/,
    ],
    [
      'a success that no person reported is in a note alone',
      ({ world, result, asked, call }) => (
        remove(world.messages, result),
        Object.assign(asked, { status: 'retracted' }),
        void world.messages.push({ ...asked, id: 'n-1', role: 'system', content: [text('mail({})')] }),
        Object.assign(call, { status: 'completed' })
      ),
      /another result/,
    ],
    [
      'a success is reported as something else',
      ({ result }) => Object.assign(result, { content: [toolResult('Cancelled.', true)] }),
      /another result/,
    ],
  ],
  order: [
    ['a steered input joins late', (sound) => joins(sound), /joined before one/],
    ['one begins before its turn', (sound) => beginsBefore(sound, 5), /before one that stood ahead/],
    [
      'a low priority begins before a high one',
      (sound) => (Object.assign(sound.first, { delay: null }), beginsBefore(sound, 9)),
      /before one that stood ahead/,
    ],
    [
      'a later one is ahead in the queue',
      ({ cancelled, done, first }) => (
        Object.assign(first, { delay: null }),
        Object.assign(done, { position: cancelled.position + 1 })
      ),
      /stands ahead of one/,
    ],
  ],
  delays: [
    ['no input was delayed', ({ first }) => Object.assign(first, { delay: null }), /no delayed input started/],
    ['none of them started', ({ world, begin }) => remove(world.events, begin), /no delayed input started/],
    ['its job is lost', ({ world, done }) => remove(world.jobs, done), /is lost/],
    ['it has no start', ({ done }) => Object.assign(done, { starts_at: null }), /has no start/],
    ['it started before its time', ({ done }) => Object.assign(done, { started_at: 3 }), /started 6 ms before/],
    ['it was answered before its time', ({ done }) => Object.assign(done, { finished_at: 3 }), /ended before its time/],
    ['it was read before its time', ({ input }) => Object.assign(input, { completed_at: 3 }), /entered history before/],
    ['it started twice', ({ world, begin }) => void world.events.push({ ...begin, seq: 9 }), /started 2 times/],
    ['its start is too early', ({ first }) => delayedBy(first, { sent: 10 }), /earlier than was asked for/],
    ['its start is too late', ({ first }) => delayedBy(first, { sent: -10, answered: -2 }), /later than was asked for/],
  ],
  numbers: [
    ['a number is missing', ({ world, started }) => remove(world.events, started), /break at 5/],
    ['a number exists twice', ({ started }) => Object.assign(started, { seq: 6 }), /break at 5/],
    ['the head is elsewhere', ({ context }) => Object.assign(context, { head_seq: 9 }), /the head is 9/],
  ],
  transcripts: [
    ['a result is missing', ({ world, result }) => remove(world.messages, result), /while calls were open/],
    [
      'a result exists twice',
      ({ world, result }) => void world.messages.push({ ...result, id: 'r-2', seq: 6.5 }),
      /without its open call/,
    ],
    ['a result has an id of its own', ({ result }) => Object.assign(result, { id: 'r-2' }), /another id than its call/],
    [
      'the last call has no result',
      ({ world, result, answer }) => (remove(world.messages, result), remove(world.messages, answer)),
      /calls without a result/,
    ],
    ['a turn is wrong', ({ answer }) => Object.assign(answer, { turn: 'a2' }), /is of turn a2/],
    ['history begins with an answer', ({ world, input }) => remove(world.messages, input), /after 0 inputs/],
    ['a call has no row', ({ world, call }) => remove(world.calls, call), /a call without a row/],
    ['a call is still open', ({ call }) => Object.assign(call, { status: 'started' }), /still started/],
    ['a row is of no call', ({ call }) => Object.assign(call, { message_id: 'm-1' }), /row of a call that no model/],
  ],
  receipts: [
    [
      'it stopped before a request',
      ({ cancelled }) => Object.assign(cancelled, { stopped_at: 19 }),
      /before a request/,
    ],
    [
      'it was received before it was sent',
      ({ cancelled }) => Object.assign(cancelled, { stop_delivered_at: 19 }),
      /received before/,
    ],
    [
      'it was received after the end',
      ({ cancelled }) => Object.assign(cancelled, { stop_delivered_at: 21 }),
      /received after/,
    ],
    ['a receipt has no end', ({ cancelled }) => Object.assign(cancelled, { stopped_at: null }), /no times/],
    [
      'a stop request is lost',
      ({ done }) => Object.assign(done, { stop_kind: 'cancel', stop_requested_at: 1, stopped_at: 50 }),
      /a stop request was lost/,
    ],
    [
      'a job ends without a stop request',
      ({ cancelled }) => Object.assign(cancelled, { stop_kind: null }),
      /without a stop request/,
    ],
    ['a message comes after the end', ({ answer }) => Object.assign(answer, { seq: 9 }), /after the end of its job/],
    [
      'a message comes after the stop',
      ({ done }) =>
        Object.assign(done, {
          status: 'cancelled',
          stop_kind: 'cancel',
          stop_requested_at: 10,
          stopped_at: 20,
        }),
      /after the end of its job/,
    ],
    ['a discarded answer is still there', (sound) => interrupted(sound, 'discard'), /still there/],
    [
      'a discarded input is gone',
      (sound) => (interrupted(sound, 'discard'), Object.assign(sound.input, { status: 'retracted' })),
      /input was retracted/,
    ],
    ['an input that was rolled back is still there', (sound) => interrupted(sound, 'rollback'), /input is still there/],
    [
      'a kept answer is gone',
      (sound) => (interrupted(sound, 'keep'), Object.assign(sound.answer, { status: 'retracted' })),
      /kept, and retracted/,
    ],
    [
      'an interrupt names other messages',
      (sound) => (
        interrupted(sound, 'keep'),
        void sound.world.interrupts.push({ contextId: 'c', mode: 'keep', jobId: 'job-1', removed: ['a-2'] })
      ),
      /names other messages/,
    ],
  ],
  stops: [
    ['a stop never gets through', (sound) => stopped(sound, { stopped: null }), /a stop never got through/],
    ['a start never gets through', (sound) => stopped(sound, { started: null }), /a start never got through/],
    [
      'a stop is answered otherwise',
      (sound) => stopped(sound, { stopped: { ...moment(70), reported: 'working' } }),
      /is shown as working/,
    ],
    [
      'a start is answered otherwise',
      (sound) => stopped(sound, { started: { ...moment(90), reported: 'stopped' } }),
      /is shown as stopped/,
    ],
    [
      'a stopped worker takes an input',
      (sound) => stopped(sound, { asked: moment(-9), stopped: { ...moment(-8), reported: 'stopped' } }),
      /taken by a stopped worker/,
    ],
    [
      'a stopped worker begins a job',
      (sound) => stopped(sound, { asked: moment(1), stopped: { ...moment(4), reported: 'stopped' } }),
      /begun by a stopped worker/,
    ],
    [
      'a job runs on through a stop',
      (sound) => stopped(sound, { asked: moment(20), stopped: { ...moment(30), reported: 'stopped' } }),
      /ran on through a stop/,
    ],
    [
      'one stop ends two jobs',
      (sound) => {
        stopped(sound, {});
        for (const job of sound.world.jobs)
          Object.assign(job, { stop_kind: 'stop', stop_requested_at: 65, stopped_at: 66 });
      },
      /2 jobs were ended by 1 stops/,
    ],
    [
      'a stop ends a job before the request',
      (sound) => (stopped(sound, {}), Object.assign(sound.cancelled, { stop_kind: 'stop' })),
      /a stop that no client requested/,
    ],
    [
      'an input is refused when the worker was started',
      (sound) => (
        stopped(sound, {}),
        Object.assign(sound.second, { outcome: { kind: 'refused', code: 'worker_stopped', at: 50 } })
      ),
      /that was not stopped/,
    ],
    [
      'a start is forgotten',
      (sound) => (stopped(sound, {}), Object.assign(sound.context, { stopped: true })),
      /is still stopped, in Idle/,
    ],
    [
      'a worker is stopped without a request',
      ({ context }) => Object.assign(context, { state: 'Stopped' }),
      /is still stopped, in Stopped/,
    ],
  ],
  api: [
    ['a context is not found', ({ world }) => void world.returned.splice(0), /does not know it/],
    [
      'a counter is returned wrong',
      ({ world }) => change(world.returned[0], { messageCount: 3 }),
      /message_count is 4, the API returns 3/,
    ],
    ['a message is left out', ({ world }) => void world.returned[0]?.branches[0]?.messages.pop(), /not what is stored/],
    [
      'a message is returned with another text',
      ({ world }) => change(world.returned[0]?.branches[0]?.messages[3], { content: [text('no')] }),
      /not what is stored/,
    ],
    [
      'a message too many is listed',
      ({ world }) =>
        void world.returned[0]?.branches[0]?.messages.push({
          id: 'x',
          seq: 9,
          role: 'user',
          turn: 'u2',
          content: [],
        }),
      /5 messages are listed/,
    ],
    [
      'a job is returned wrong',
      ({ world }) => change(world.returned[0]?.jobs[0], { status: 'failed' }),
      /another job than is stored/,
    ],
    ['a job is left out', ({ world }) => void world.returned[0]?.jobs.pop(), /1 jobs are listed/],
  ],
  streams: [
    ['an event is missing', ({ world }) => void world.streams[0]?.events.splice(1, 1), /was sent where 2 was due/],
    [
      'an event comes twice',
      ({ world }) => void world.streams[0]?.events.splice(1, 0, { seq: 1, name: 'JobStarted', data: {} }),
      /was sent where 2 was due/,
    ],
    [
      'an event has other data',
      ({ world }) => change(world.streams[0]?.events[0], { name: 'JobFinished' }),
      /stored is JobStarted/,
    ],
    ['the last event is missing', ({ world }) => void world.streams[0]?.events.pop(), /it ends at 7/],
    ['a client is left behind', ({ world }) => change(world.streams[0], { behind: true }), /never got beyond/],
    ['a replay is short', ({ world }) => void world.replays[0]?.events.pop(), /a replay from the start: it ends at 7/],
    [
      'a text is another one',
      ({ world }) =>
        change(world.streams[0]?.events[6], {
          data: { message_id: 'a-2', attempt: 2, sequence: 0, delta: 'x' },
        }),
      /not the beginning of the answer/,
    ],
    [
      'a later attempt was received than is stored',
      ({ answer }) => Object.assign(answer, { attempt: 1 }),
      /attempt 2 was received, 1 is stored/,
    ],
    [
      'text comes after its answer',
      ({ world }) =>
        void (world.streams[0]?.events.push({
          seq: null,
          name: 'ContentDelta',
          data: { message_id: 'a-2', attempt: 2, sequence: 2, delta: '' },
        }),
        world.streams[0]?.connection.push(1)),
      /text of an answer after/,
    ],
  ],
  tenants: [
    ['an input of a suspended tenant is lost', ({ world }) => void world.others.jobs.shift(), /has no job/],
    [
      'a job does not go on when its tenant is resumed',
      ({ world }) => void (world.others.jobs[0] = { ...job(world), status: 'running' }),
      /of the resumed tenant is running/,
    ],
    [
      'a job belongs to another user',
      ({ world }) => void (world.others.jobs[0] = { ...job(world), user: 'ben' }),
      /has the user ben, not ann/,
    ],
    [
      'an input is stored twice',
      ({ world }) => void world.others.jobs.push({ ...job(world), id: 'another' }),
      /of no accepted input and no run/,
    ],
    [
      'a suspended tenant begins a job',
      ({ world }) => void (world.others.jobs[0] = { ...job(world), startedAt: 20 }),
      /began while its tenant was suspended/,
    ],
    ['no tenant was suspended', ({ world }) => void (world.others.suspended = null), /no tenant was suspended/],
    [
      'the suspended tenant had no input',
      ({ world }) => void world.others.inputs.shift(),
      /the tenant paused had no input/,
    ],
    [
      'the deleted tenant had no input',
      ({ world }) => void world.others.inputs.pop(),
      /the tenant deleted had no input/,
    ],
    [
      'no tenant was deleted',
      ({ world }) => void (world.others.deleted = ['paused']),
      /the tenant deleted was not deleted/,
    ],
    ['a deletion leaves rows', ({ world }) => void world.others.left.push('jobs of deleted'), /has rows left: jobs/],
  ],
  keys: BROKEN_KEYS,
  ...BROKEN_SCHEDULES,
  ...BROKEN_WEBHOOKS,
  ...BROKEN_SERVICE,
  ...BROKEN_REPAIRS,
  processes: [
    [
      'a process ends by itself',
      ({ world }) => void world.incidents.push({ process: 'worker-1', what: 'ended by itself (1)', lines: [] }),
      /ended by itself/,
    ],
    [
      'an answer that no client should see',
      ({ world }) => void world.odd.push({ request: 'GET /', status: 500, body: '' }),
      /was answered 500/,
    ],
  ],
};

function job({ others }: World): TenantJob {
  const [first] = others.jobs;
  if (first === undefined) throw new Error('The sound world has a job of another tenant.');
  return first;
}

describe.each(Object.entries(BROKEN))('%s', (name, ways) => {
  test.each(ways)('%s', (_, breakIt, expected) => {
    const sound = soundWorld();
    breakIt(sound);
    expect(foundBy(name, sound.world)).toContainEqual(expect.stringMatching(expected));
  });
});

test('a sound conversation passes every check', () => {
  expect(violationsOf(soundConversation().world)).toEqual([]);
});

describe.each(Object.entries(BROKEN_CONVERSATIONS))('of conversations: %s', (name, ways) => {
  test.each(ways)('%s', (_, breakIt, expected) => {
    const sound = soundConversation();
    breakIt(sound);
    expect(foundBy(name, sound.world)).toContainEqual(expect.stringMatching(expected));
  });
});

test('a sound tree passes the check of workers', () => {
  expect(foundBy('workers', soundTree().world)).toEqual([]);
});

test.each(BROKEN_TREES)('of workers: %s', (_, breakIt, expected) => {
  const sound = soundTree();
  breakIt(sound);
  expect(foundBy('workers', sound.world)).toContainEqual(expect.stringMatching(expected));
});

test('a sound approval passes its check', () => {
  expect(foundBy('approvals', soundApproval().world)).toEqual([]);
});

test.each(BROKEN_APPROVALS)('of approvals: %s', (_, breakIt, expected) => {
  const sound = soundApproval();
  breakIt(sound);
  expect(foundBy('approvals', sound.world)).toContainEqual(expect.stringMatching(expected));
});

test('a sound outcome passes its check', () => {
  expect(foundBy('outcomes', soundOutcome().world)).toEqual([]);
});

test.each(BROKEN_OUTCOMES)('of outcomes: %s', (_, breakIt, expected) => {
  const sound = soundOutcome();
  breakIt(sound);
  expect(foundBy('outcomes', sound.world)).toContainEqual(expect.stringMatching(expected));
});

test('every check has a broken world here', () => {
  const broken = new Set([
    ...Object.keys(BROKEN),
    ...Object.keys(BROKEN_CONVERSATIONS),
    'approvals',
    'outcomes',
    'workers',
  ]);
  expect([...broken].sort()).toEqual(CHECKS.map(({ name }) => name).sort());
});

function foundBy(name: string, world: World): string[] {
  return violationsOf(world)
    .filter(({ check }) => check === name)
    .map(({ what }) => what);
}

function remove<T>(list: T[], one: T): void {
  list.splice(list.indexOf(one), 1);
}

function change<T extends object>(one: T | undefined, more: Partial<T>): void {
  if (one === undefined) throw new Error('nothing to break');
  Object.assign(one, more);
}

function delayedBy(input: Posted, more: Partial<PostDelay>): void {
  Object.assign(input.delay ?? {}, more);
}

/** `i-2`, of this priority, begins although `i-1` is ahead of it in the queue and begins later. */
function beginsBefore({ cancelled, world, begin, first }: Sound, priority: number): void {
  Object.assign(cancelled, { priority });
  Object.assign(begin, { seq: 12 });
  Object.assign(first, { outcome: { ...first.outcome, after: 0 } });
  world.events.push(event(11, 'JobStarted', { job_id: 'job-2', status: 'running', attempt: 1 }));
}

function interrupted({ done }: Sound, mode: string): void {
  Object.assign(done, {
    status: 'interrupted',
    stop_kind: 'interrupt',
    stop_mode: mode,
    stop_requested_at: 20,
    stopped_at: 50,
  });
}

/** Everything had ended when a client stopped the worker and started it again. */
function stopped({ world }: Sound, more: Partial<Stop>): void {
  world.stops.push({
    contextId: 'c',
    asked: moment(60),
    stopped: { ...moment(70), reported: 'stopped' },
    startRequested: moment(80),
    started: { ...moment(90), reported: 'inactive' },
    ...more,
  });
}

function moment(at: number): Moment {
  return { at, wall: at };
}

/** Two inputs join `job-1`, the later one first. */
function joins({ world, first, input }: Sound): void {
  for (const [tag, seq, at] of [
    ['i-3', 10, 100],
    ['i-4', 9, 200],
  ] as const) {
    world.messages.push({ ...input, id: `m-${tag}`, seq, turn: 'u2' });
    world.inputs.push({
      ...first,
      tag,
      delivery: 'steer',
      firstSentAt: at,
      outcome: {
        kind: 'accepted',
        at: at + 1,
        jobId: 'job-1',
        messageId: `m-${tag}`,
        after: 8,
        branch: null,
      },
    });
  }
}
