// A job's path from its input to its end, as the loop would take it, under any events from outside.
import * as fc from 'fast-check';
import type { Append } from '../../../src/core/run/append.ts';
import type { NewCompaction } from '../../../src/core/compaction/compacted.ts';
import { tokensAfter } from '../../../src/core/compaction/plan.ts';
import { decide, type Decision } from '../../../src/core/decide.ts';
import type { Ids, MessageId, ToolCallId } from '../../../src/core/ids.ts';
import { admit } from '../../../src/core/transitions/admit.ts';
import { answer, judged } from '../../../src/core/transitions/answer.ts';
import { judgeOutput } from '../../../src/core/run/output.ts';
import { compaction } from '../../../src/core/transitions/compact.ts';
import { delay, releaseUntil, rest } from '../../../src/core/transitions/park.ts';
import { end } from '../../../src/core/transitions/end.ts';
import { endWaits } from '../../../src/core/transitions/waits.ts';
import { steer } from '../../../src/core/transitions/steer.ts';
import { closeCalls, ended, startCall } from '../../../src/core/transitions/tools.ts';
import type { Settings } from '../../../src/core/workers/settings.ts';
import type { Snapshot } from '../../../src/core/run/snapshot.ts';
import type { Millis } from '../../../src/core/time.ts';
import { cancelRequest, given, settings, text, tool } from '../builders.ts';

/** The events at a step; those that do not fit the step are skipped. */
export type Happening =
  | { kind: 'say'; calls: number; pause: boolean }
  | { kind: 'fail'; waitMs: number }
  | { kind: 'results'; share: number }
  | { kind: 'cancel' };

export const someWorld: fc.Arbitrary<Happening[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('say' as const), calls: fc.nat(3), pause: fc.boolean() }),
    fc.record({ kind: fc.constant('fail' as const), waitMs: fc.nat(3_000) }),
    fc.record({ kind: fc.constant('results' as const), share: fc.nat(3) }),
    fc.constant({ kind: 'cancel' as const }),
  ),
  { maxLength: 25 },
);

export const WALKED: Settings = settings({
  tools: [{ ...tool('ask_user'), answered_by: 'person' }, tool('mail', 'once'), tool('search')],
  maxSteps: 5,
  outputSchema: {},
  outputRetries: 1,
});

type CheckOutputStep = Extract<Decision, { kind: 'check_output' }>;

export type Next =
  | { kind: 'move'; move: Append }
  /** A write from outside: a stop request, an answer. */
  | { kind: 'written'; now: Snapshot }
  | { kind: 'later'; time: Millis };

export function nextMove(now: Snapshot, happening: Happening | undefined, time: Millis, ids: Ids): Next {
  if (happening?.kind === 'cancel' && now.job !== null) {
    return { kind: 'written', now: { ...now, job: { ...now.job, stopRequest: cancelRequest() } } };
  }
  const step = decide(now, time);
  if (step.kind === 'await_calls') return { kind: 'written', now: answered(now) };
  return step.kind === 'wait'
    ? { kind: 'later', time: step.until }
    : { kind: 'move', move: moveOf(now, step, happening, time, ids) };
}

function moveOf(
  now: Snapshot,
  step: Exclude<Decision, { kind: 'wait' | 'await_calls' }>,
  happening: Happening | undefined,
  time: Millis,
  ids: Ids,
): Append {
  switch (step.kind) {
    case 'admit':
      return admit(now, step.next);
    case 'steer':
      return steer(now, step.job);
    case 'call_model':
      if (happening?.kind === 'fail') {
        return delay(now, step.job, { code: 'stream_interrupted', message: 'm' }, time + happening.waitMs);
      }
      return answer(now, step, { ...answerOf(happening, ids), id: ids.next<MessageId>() }, time);
    case 'compact':
      return compaction(now, step.job, compactedBy(step, ids), { calledAt: time, firstByteAt: null });
    case 'call_tools':
      return toolMove(now, step, happening);
    case 'end_waits':
      return endWaits(now, step);
    case 'check_output':
      return outputMove(now, step, ids);
    case 'finish':
      return end(now, step, now.history, ids);
    case 'park':
      return rest(now);
    case 'release':
    case 'release_unsupported':
      return releaseUntil(now, time);
  }
}

/** Every other answer matches. */
function outputMove(now: Snapshot, { job, output, outputId }: CheckOutputStep, ids: Ids): Append {
  const answer = { text: '', finishReason: 'stop', corrections: job.corrections };
  const checked =
    job.steps % 2 === 0 ? { ok: true as const } : { ok: false as const, isChecked: true, problems: ['p'] };
  const outcome = judgeOutput(output, answer, () => checked);
  return judged(now, job, { output: outcome, answerId: outputId, noteId: ids.next<MessageId>() });
}

/** As `agent/compact` makes it. */
export function compactedBy({ job, plan }: Extract<Decision, { kind: 'compact' }>, ids: Ids): NewCompaction {
  const summary = plan.type === 'llm' ? 's' : null;
  return {
    id: ids.next(),
    type: plan.type,
    branch: job.branch,
    uptoSeq: plan.uptoSeq,
    summary,
    model: summary === null ? null : 'simulated/m',
    tokensBefore: plan.tokensBefore,
    tokensAfter: tokensAfter(plan, summary ?? ''),
    jobId: job.id,
    usage: null,
  };
}

/** The first waiting call is answered. */
function answered(now: Snapshot): Snapshot {
  const first = now.calls.find(({ status, reply }) => status === 'waiting' && reply === null);
  const reply = { content: 'yes', isError: false };
  return { ...now, calls: now.calls.map((call) => (call === first ? { ...call, reply } : call)) };
}

function answerOf(happening: Happening | undefined, ids: Ids) {
  const { calls, pause } = happening?.kind === 'say' ? happening : { calls: 0, pause: false };
  const uses = Array.from({ length: calls }, (_, n) => ({
    type: 'tool_use' as const,
    id: ids.next<ToolCallId>(),
    name: ['mail', 'ask_user', 'search'][n] ?? 'search',
    input: { question: `n ${n}?` },
  }));
  return given({ content: [text('w'), ...uses], finishReason: pause ? 'pause' : 'stop' });
}

function toolMove(
  now: Snapshot,
  { job, run, unknown }: Extract<Decision, { kind: 'call_tools' }>,
  happening: Happening | undefined,
): Append {
  const unmarked = run.find(({ effect, status }) => effect === 'once' && status === 'pending');
  if (unmarked !== undefined) return startCall(now, unmarked);
  const open = [...run, ...unknown];
  const some = happening?.kind === 'results' ? open.slice(0, happening.share + 1) : open;
  const results = some.map((call) => ended(call, { kind: 'result', content: 'ok', is_error: false }));
  return closeCalls(now, job, results);
}
