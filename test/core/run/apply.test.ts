// The run's own view after its appends. test/db shows on Postgres that it equals a reload.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { apply } from '../../../src/core/run/apply.ts';
import type { Append } from '../../../src/core/run/append.ts';
import { isToolResult, isToolUse } from '../../../src/core/conversation/blocks.ts';
import type { MessageId, ToolCallId } from '../../../src/core/ids.ts';
import { admit } from '../../../src/core/transitions/admit.ts';
import { answer } from '../../../src/core/transitions/answer.ts';
import { delay } from '../../../src/core/transitions/park.ts';
import { settle } from '../../../src/core/transitions/settle.ts';
import { closeCalls, ended, startCall } from '../../../src/core/transitions/tools.ts';
import { assemble } from '../../../src/core/conversation/prompt.ts';
import type { Snapshot } from '../../../src/core/run/snapshot.ts';
import { WALKED, nextMove, someWorld, type Happening } from './walk.ts';
import {
  NOW,
  call,
  committed,
  countingIds,
  given,
  id,
  job,
  queuedInput,
  queuedRetry,
  running,
  settings,
  snapshot,
  text,
  tool,
  toolUse,
  userMessage,
} from '../builders.ts';

const after = (before: Snapshot, append: Append, headSeq = 10): Snapshot =>
  apply(before, append, committed(append, before, headSeq));

describe('an append', () => {
  test('that admits puts the input into history under the number of its entry', () => {
    const next = queuedInput();
    const before = snapshot({ next, queued: 2, failedClaims: 1 });
    const now = after(before, admit(before, next));
    expect(now.history).toEqual([{ ...userMessage(12), id: id(20), content: [text('next')], jobId: next.id }]);
    expect(now).toMatchObject({ job: { id: next.id }, next: null, queued: 1, failedClaims: 1 });
  });

  test('that admits a retry adds no message', () => {
    const before = snapshot({ next: queuedRetry(), queued: 1 });
    expect(after(before, admit(before, queuedRetry()))).toMatchObject({
      history: [],
      queued: 0,
      job: { kind: 'retry' },
    });
  });

  test('that requests, starts and closes calls leaves the open ones', () => {
    const before = running();
    const uses = given({ content: [toolUse(50), toolUse(51)], finishReason: 'tool_use' });
    const known = settings({ tools: [tool('search', 'once')] });
    const asked = after(
      before,
      answer(before, { job: job(), settings: known }, { ...uses, id: id<MessageId>(30) }, NOW),
    );
    expect(asked.calls.map(({ status }) => status)).toEqual(['pending', 'pending']);
    const started = after(asked, startCall(asked, call({ id: id<ToolCallId>(51) })), 20);
    expect(started.calls.map(({ status }) => status)).toEqual(['pending', 'started']);
    const done = asked.calls.slice(1).map((one) => ended(one, { kind: 'result', content: 'ok', is_error: false }));
    const closed = after(started, closeCalls(started, job(), done), 21);
    expect(closed.calls.map((one) => one.id)).toEqual([id(50)]);
    expect(closed.history.map(({ seq }) => seq)).toEqual([2, 11, 23]);
  });

  test('that settles leaves no job', () => {
    const before = running({ queued: 1 });
    const now = after(before, settle(before, job(), { status: 'cancelled', reason: null }));
    expect(now).toMatchObject({ job: null, state: 'Idle', queued: 1 });
  });

  test('with progress resets the count of failed claims', () => {
    const before = running({ failedClaims: 3 });
    const move = delay(before, job(), { code: 'stream_interrupted', message: 'm' }, NOW + 1);
    expect(after(before, move).failedClaims).toBe(0);
  });

  test('leaves the counters as they were read: writes of others since then have not been read', () => {
    const before = running();
    const move = delay(before, job(), { code: 'stream_interrupted', message: 'm' }, NOW + 1);
    const outcome = { ...committed(move, before, 10), wakeSeq: 99, controlSeq: 99 };
    expect(apply(before, move, outcome)).toMatchObject({
      wakeSeq: before.wakeSeq,
      controlSeq: before.controlSeq,
    });
  });
});

/** Walks one job from its input to its end as the loop does, in memory. */
function walk(world: readonly Happening[], check: (now: Snapshot) => void): Snapshot {
  const ids = countingIds();
  let now = snapshot({ next: queuedInput(), queued: 1, serving: { kind: 'served', settings: WALKED } });
  let time = NOW;
  let headSeq = 0;
  const happenings = [...world];
  for (let count = 0; count < 200; count += 1) {
    const next = nextMove(now, happenings.shift(), time, ids);
    if (next.kind === 'later') time = next.time;
    if (next.kind === 'written') now = next.now;
    if (next.kind !== 'move') continue;
    now = apply(now, next.move, committed(next.move, now, headSeq));
    headSeq += next.move.entries.length;
    check(now);
    if (next.move.park?.status === 'idle') return now;
  }
  throw new Error('the walk does not end');
}

describe('whatever the model and the tools do', () => {
  test('open calls are the unanswered calls of history, and numbers only rise', () => {
    fc.assert(
      fc.property(someWorld, (world) => {
        walk(world, ({ history, calls }) => {
          const blocks = history.flatMap(({ content }) => content);
          const answered = blocks.filter(isToolResult).map((block) => block.tool_use_id);
          const asked = blocks.filter(isToolUse).map((block) => block.id);
          expect(new Set(answered).size).toBe(answered.length);
          expect(calls.map((one) => one.id)).toEqual(asked.filter((one) => !answered.includes(one)));
          const numbers = history.map(({ seq }) => seq);
          expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
        });
      }),
      { numRuns: 300 },
    );
  });

  test('a job ends, with every call answered by its own result and a prompt that needs no repair', () => {
    fc.assert(
      fc.property(someWorld, (world) => {
        const end = walk(world, () => undefined);
        expect(end).toMatchObject({ job: null, calls: [], queued: 0 });
        expect(JSON.stringify(assemble(end.history))).not.toContain('No result was recorded');
      }),
      { numRuns: 300 },
    );
  });
});
