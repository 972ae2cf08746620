// What an interrupt retracts, what it keeps, and what it reports about effects; how inputs join a job.
import { describe, expect, test } from 'vitest';
import type { Append } from '../../../src/core/run/append.ts';
import { apply } from '../../../src/core/run/apply.ts';
import { decide } from '../../../src/core/decide.ts';
import type { MessageId, ToolCallId } from '../../../src/core/ids.ts';
import { INTERRUPT_MODES, type InterruptMode } from '../../../src/core/run/job.ts';
import { lastTurnOf } from '../../../src/core/conversation/message.ts';
import { end, withPartial } from '../../../src/core/transitions/end.ts';
import { steer } from '../../../src/core/transitions/steer.ts';
import { assemble } from '../../../src/core/conversation/prompt.ts';
import type { Snapshot } from '../../../src/core/run/snapshot.ts';
import {
  NOW,
  OTHER_JOB,
  assistantMessage,
  call,
  committed,
  countingIds,
  id,
  interruptRequest,
  job,
  running,
  toolMessage,
  userMessage,
} from '../builders.ts';

const mail = id<ToolCallId>(51);
const search = id<ToolCallId>(50);

/** Two earlier turns, then a job that asked for two calls: one runs, one has not begun. */
function busy(over: Partial<Snapshot> = {}): Snapshot {
  return running({
    state: 'ExecutingTools',
    job: job({ turn: 2 }),
    history: [
      userMessage(2, { jobId: OTHER_JOB }),
      assistantMessage(3, { jobId: OTHER_JOB, turn: 'a1' }),
      userMessage(5, { turn: 'u2' }),
      assistantMessage(6, {
        turn: 'a2',
        content: [
          { type: 'tool_use', id: search, name: 'search', input: { q: 1 } },
          { type: 'tool_use', id: mail, name: 'mail', input: { to: 'x' } },
        ],
      }),
    ],
    calls: [call({ id: search }), call({ id: mail, name: 'mail', effect: 'once', ordinal: 1 })],
    ...over,
  });
}

function interrupted(snapshot: Snapshot, mode: InterruptMode): { move: Append; after: Snapshot } {
  if (snapshot.job === null) throw new Error('nothing runs');
  const move = end(
    snapshot,
    { job: snapshot.job, outcome: { status: 'interrupted', mode } },
    snapshot.history,
    countingIds(),
  );
  return { move, after: applied(snapshot, move) };
}

function applied(before: Snapshot, move: Append): Snapshot {
  return apply(before, move, committed(move, before, 20));
}

const eventsOf = ({ entries }: Append) => entries.flatMap((entry) => (entry.kind === 'event' ? [entry.event] : []));
const linesOf = ({ history }: Snapshot) => history.map(({ turn, role }) => `${turn} ${role}`);

describe('a stop request of kind interrupt', () => {
  test.each(INTERRUPT_MODES)('%s ends the job as interrupted, whatever it was about to do', (mode) => {
    const step = decide(busy({ job: job({ turn: 2, stopRequest: interruptRequest(mode), deadline: NOW - 1 }) }), NOW);
    expect(step).toMatchObject({ kind: 'finish', outcome: { status: 'interrupted', mode } });
  });

  test('of a job that has not begun lets it begin, even where its config is unsupported', () => {
    const next = { ...queued(), stopRequest: interruptRequest('keep') };
    const step = decide(busy({ job: null, calls: [], next, serving: { kind: 'unsupported', missing: ['x'] } }), NOW);
    expect(step).toEqual({ kind: 'admit', next });
  });
});

describe('discard', () => {
  test('retracts the assistant’s messages of the job; inputs and earlier turns stay', () => {
    const { move, after } = interrupted(busy(), 'discard');
    expect(linesOf(after)).toEqual(['u1 user', 'a1 assistant', 'u2 user', 'a2 system']);
    expect(move.takenBack).toEqual({
      retracted: [busy().history[3]?.id],
      withdrawn: [],
      lastTurn: 2,
      retraction: null,
    });
    expect(eventsOf(move)).toContainEqual({
      name: 'MessagesRetracted',
      data: { message_ids: [busy().history[3]?.id], turn: 'a2', mode: 'discard' },
    });
    expect(after.calls).toEqual([]);
    expect(after.job).toBeNull();
  });

  test('closes each open call, without a result that would be retracted at once', () => {
    const { move } = interrupted(busy(), 'discard');
    expect(move.calls).toEqual([
      { kind: 'close', id: search, status: 'cancelled', execution: null },
      { kind: 'close', id: mail, status: 'cancelled', execution: null },
    ]);
    expect(eventsOf(move).filter(({ name }) => name === 'ToolCallFinished')).toHaveLength(2);
  });

  test('names the calls that had begun in one note, and no others', () => {
    const note = interrupted(busy(), 'discard').after.history.at(-1);
    expect(note).toMatchObject({ role: 'system', type: 'text', turn: 'a2' });
    expect(JSON.stringify(note?.content)).toContain('search');
    expect(JSON.stringify(note?.content)).not.toContain('mail');
    const started = call({ id: mail, name: 'mail', effect: 'once', status: 'started' });
    const both = interrupted(busy({ calls: [started] }), 'discard').after.history.at(-1);
    expect(JSON.stringify(both?.content)).toMatch(/search.*mail/);
  });

  test('of a job without calls leaves no note', () => {
    const before = running({ history: [userMessage(2), assistantMessage(3)] });
    expect(linesOf(interrupted(before, 'discard').after)).toEqual(['u1 user']);
  });

  test('of a job that added nothing reports nothing retracted', () => {
    const { move } = interrupted(running(), 'discard');
    expect(eventsOf(move).map(({ name }) => name)).toEqual(['JobFinished', 'StateChanged']);
  });

  test('the next input takes the next turn, and the prompt stays valid', () => {
    const { after } = interrupted(busy(), 'discard');
    expect(lastTurnOf(after.history)).toBe(2);
    expect(assemble(after.history).map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  test('a long row of calls is counted, not listed', () => {
    const uses = Array.from({ length: 80 }, (_, n) => ({
      type: 'tool_use' as const,
      id: id<ToolCallId>(200 + n),
      name: 'search',
      input: { text: 'x'.repeat(1_000) },
    }));
    const before = running({ history: [userMessage(2), assistantMessage(3, { content: uses })] });
    const text = JSON.stringify(interrupted(before, 'discard').after.history.at(-1)?.content);
    expect(text).toContain('and 30 more');
    expect(text.length).toBeLessThan(25_000);
  });
});

describe('rollback', () => {
  test('retracts the inputs of the job too', () => {
    const { move, after } = interrupted(busy(), 'rollback');
    expect(linesOf(after)).toEqual(['u1 user', 'a1 assistant', 'a1 system']);
    expect(move.takenBack).toMatchObject({ lastTurn: 1 });
    expect(eventsOf(move)).toContainEqual({
      name: 'MessagesRetracted',
      data: {
        message_ids: busy()
          .history.slice(2)
          .map((message) => message.id),
        turn: 'u2',
        mode: 'rollback',
      },
    });
    expect(lastTurnOf(after.history)).toBe(1);
  });

  test('of the first turn leaves no message', () => {
    const before = running({ history: [userMessage(2), assistantMessage(3)] });
    const { move, after } = interrupted(before, 'rollback');
    expect(after.history).toEqual([]);
    expect(move.takenBack).toMatchObject({ lastTurn: 0 });
  });

  test('of a retry leaves the input that it answered, which belongs to another job', () => {
    const before = running({
      job: job({ kind: 'retry' }),
      history: [userMessage(2, { jobId: OTHER_JOB }), assistantMessage(3)],
    });
    const { move, after } = interrupted(before, 'rollback');
    expect(linesOf(after)).toEqual(['u1 user']);
    expect(move.takenBack).toMatchObject({ lastTurn: 1 });
  });

  test('retracts inputs that were about to join the job', () => {
    const messageId = id<MessageId>(77);
    const { move, after } = interrupted(busy({ steers: [{ messageId, content: [] }] }), 'rollback');
    expect(move.takenBack?.withdrawn).toEqual([messageId]);
    expect(after.steers).toEqual([]);
  });
});

describe('keep', () => {
  test('closes the finished part: every call has its result', () => {
    const { move, after } = interrupted(busy(), 'keep');
    expect(linesOf(after)).toEqual(['u1 user', 'a1 assistant', 'u2 user', 'a2 assistant', 'a2 tool', 'a2 tool']);
    expect(move.takenBack).toBeNull();
    expect(eventsOf(move).map(({ name }) => name)).not.toContain('MessagesRetracted');
  });
});

describe('inputs that join a job', () => {
  const inputs = [78, 79].map((number) => ({
    messageId: id<MessageId>(number),
    content: [{ type: 'text' as const, text: `${number}` }],
  }));

  test('wait until every call is answered', () => {
    expect(decide(busy({ steers: inputs }), NOW).kind).toBe('call_tools');
    const answered = [...busy().history, toolMessage(7, search), toolMessage(8, mail)];
    const step = decide(busy({ steers: inputs, calls: [], history: answered }), NOW);
    expect(step).toMatchObject({ kind: 'steer' });
  });

  test('come before the answer that would have ended the job', () => {
    const before = running({ history: [userMessage(2), assistantMessage(3)], steers: inputs });
    expect(decide(before, NOW)).toMatchObject({ kind: 'steer' });
  });

  test('each open the next turn, and the answer belongs to the last one', () => {
    const before = running({ history: [userMessage(2), assistantMessage(3)], steers: inputs });
    const move = steer(before, job());
    const after = applied(before, move);
    expect(linesOf(after)).toEqual(['u1 user', 'a1 assistant', 'u2 user', 'u3 user']);
    expect(after.history.slice(2).map(({ id: messageId, jobId }) => [messageId, jobId])).toEqual(
      inputs.map(({ messageId }) => [messageId, job().id]),
    );
    expect(after.job).toMatchObject({ turn: 3 });
    expect(after.steers).toEqual([]);
    expect(move.guard.controlSeq).toBe(before.controlSeq);
    expect(decide(after, NOW).kind).toBe('call_model');
  });

  test('are not lost with a job that ends before it read them', () => {
    const before = busy({ steers: inputs });
    const { after } = interrupted(before, 'discard');
    expect(linesOf(after).slice(-2)).toEqual(['u3 user', 'u4 user']);
    const failed = end(
      before,
      {
        job: job({ turn: 2 }),
        outcome: { status: 'failed', error: { code: 'provider_auth', message: 'no' } },
      },
      before.history,
      countingIds(),
    );
    expect(linesOf(applied(before, failed)).slice(-2)).toEqual(['u3 user', 'u4 user']);
  });
});

function queued() {
  return {
    id: OTHER_JOB,
    kind: 'input' as const,
    branch: 'main',
    maxSteps: null,
    outputSchema: null,
    traceParent: null,
    deadline: null,
    stopRequest: null,
    metadata: {},
    user: null,
    messageId: id<MessageId>(20),
    content: [],
  };
}

describe('the text of an answer that was not finished', () => {
  const answer = { id: id<MessageId>(900), text: 'Half' };
  const stopped = (mode: InterruptMode): Snapshot =>
    busy({ calls: [], job: job({ turn: 2, stopRequest: interruptRequest(mode) }) });

  test.each(INTERRUPT_MODES)('%s: it is stored with the end, and no prompt of the same run has it', (mode) => {
    const before = stopped(mode);
    const { move } = interrupted(before, mode);
    const whole = withPartial(move, answer, NOW);
    expect(whole.entries[0]).toEqual({
      kind: 'partial',
      ...answer,
      turn: 'a2',
      jobId: before.job?.id,
      retraction: { cause: 'interrupt', at: NOW, by: null },
    });
    expect(whole.entries.slice(1)).toEqual(move.entries);
    const messages = (append: Append) => assemble(applied(before, append).history, before.compacted);
    expect(messages(whole)).toEqual(messages(move));
  });

  test.each(['', ' \n'])('is not stored if there is none: %j', (text) => {
    const { move } = interrupted(stopped('keep'), 'keep');
    expect(withPartial(move, { ...answer, text }, NOW)).toBe(move);
  });

  test('is not stored with a job that was completed', () => {
    const before = stopped('keep');
    if (before.job === null) throw new Error('nothing runs');
    const outcome = { status: 'completed', outputId: null } as const;
    const move = end(before, { job: before.job, outcome }, [], countingIds());
    expect(withPartial(move, answer, NOW)).toBe(move);
  });
});
