/**
 * Makes room in the prompt: by shortening tool results, or with a summary that a model writes. The summary is not
 * streamed to subscribers; only the stored result counts.
 */
import { textOf } from '../../core/conversation/blocks.ts';
import type { NewCompaction } from '../../core/compaction/compacted.ts';
import { tokensAfter } from '../../core/compaction/plan.ts';
import { SUMMARISER, answerLimit, summaryPrompt, summaryText } from '../../core/compaction/summary.ts';
import type { Decision } from '../../core/decide.ts';
import {
  formatModelName,
  type ModelAnswer,
  type ModelFailure,
  type ModelListener,
  type ModelName,
  type ModelRequest,
} from '../../core/model/model.ts';
import type { CallTimes } from '../../core/model/model-call.ts';
import { throttledWait } from '../../core/run/job.ts';
import { compaction } from '../../core/transitions/compact.ts';
import { releaseUnsupported } from '../../core/transitions/park.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import { stopped } from './aborted-call.ts';
import { endedUnanswered } from './call-model.ts';
import { takeFailure } from './failed-call.ts';
import { commit, commitResult, readAll, readMailbox, type After, type Run } from '../run.ts';
import { timed } from './timed.ts';
import { untilDeadline } from '../waits/until-deadline.ts';
import { waitForTurn } from '../waits/wait-for-turn.ts';

type Compact = Extract<Decision, { kind: 'compact' }>;

const SILENT_LISTENER: ModelListener = {
  started: () => undefined,
  text: () => undefined,
  thinking: () => undefined,
};

/** If the history was too large to read at once, its next part is read after each summary. */
export async function compact(run: Run, snapshot: Snapshot, step: Compact): Promise<After> {
  const after = await compactOnce(run, snapshot, step);
  const isMade = after?.compacted.summary?.id !== snapshot.compacted.summary?.id;
  return after !== null && after.unread !== null && isMade ? readAll(run, after) : after;
}

async function compactOnce(run: Run, snapshot: Snapshot, step: Compact): Promise<After> {
  const { job, settings, plan } = step;
  switch (plan.type) {
    case 'threshold': {
      const times = { calledAt: run.clock.now(), firstByteAt: null };
      return commit(run, snapshot, compaction(snapshot, job, newCompaction(run, step, null), times));
    }
    case 'llm':
      return summarise(run, snapshot, step, settings.compaction.model ?? settings.model);
  }
}

async function summarise(run: Run, snapshot: Snapshot, step: Compact, model: ModelName): Promise<After> {
  const { job } = step;
  const access = run.model(model);
  // A compaction request may name a model whose key only another process has.
  if (access === null) return commit(run, snapshot, releaseUnsupported(snapshot, run.clock.now()));
  if (access.kind === 'throttled') return waitForTurn(run, snapshot, job, access);
  const request = toRequest(snapshot, step, model);
  run.log.prompt(job.id, request.messages);
  run.aborted.drop();
  const { listener, times } = timed(run.clock, SILENT_LISTENER);
  const outcome = await untilDeadline(run.clock, job, run.signals.hard, (signal) =>
    access.model.call(request, listener, signal),
  );
  const made = () => ({ ...times(), throttled: throttledWait(job), prompt: null });
  const fail = (failure: ModelFailure): Promise<After> =>
    takeFailure(run, snapshot, job, { model, failure, made: made(), answer: null });
  switch (outcome.kind) {
    case 'done': {
      const failure = faultOf(outcome.answer);
      return failure === null
        ? takeSummary(run, snapshot, step, { model, answer: outcome.answer, times: times() })
        : fail(failure);
    }
    case 'failed':
      return fail(outcome.failure);
    case 'aborted':
      run.aborted.keep({ call: stopped(job, model, made()), answer: null });
      return endedUnanswered(run, job, await readMailbox(run, snapshot));
  }
}

function toRequest(
  { history, compacted, rootContextId }: Snapshot,
  { job, settings, plan }: Compact,
  model: ModelName,
): ModelRequest {
  return {
    model,
    system: SUMMARISER,
    pinned: '',
    messages: summaryPrompt(history.slice(plan.from, plan.cut), compacted.summary?.text ?? null, plan.longest),
    tools: [],
    maxTokens: answerLimit(settings.contextLimit),
    streaming: settings.streaming,
    // The settings' parameters are meant for answers and may require tool calls.
    parameters: {},
    outputSchema: null,
    cacheKey: `${rootContextId}/compaction`,
    failures: job.failures,
  };
}

/** Why the answer is not a usable summary; null: it is one. */
function faultOf({ content, finishReason }: ModelAnswer): ModelFailure | null {
  if (finishReason === 'refusal')
    return { class: 'refused', message: 'The model refused to write a summary.', retryAfterMs: null };
  return textOf(content).trim() === ''
    ? { class: 'server_error', message: 'The model wrote no summary.', retryAfterMs: null }
    : null;
}

type WrittenSummary = { model: ModelName; answer: ModelAnswer; times: CallTimes };

/** If another process wrote meanwhile, or the write is in doubt, the summary still counts, because it was paid for. */
async function takeSummary(
  run: Run,
  snapshot: Snapshot,
  step: Compact,
  { model, answer: { content, usage }, times }: WrittenSummary,
): Promise<After> {
  const { job, settings, plan } = step;
  const summary = summaryText(snapshot.history, plan, textOf(content), settings.contextLimit);
  const made = { ...newCompaction(run, step, summary), model: formatModelName(model), usage };
  return commitResult(run, snapshot, compaction(snapshot, job, made, times), (now) => {
    if (now.job?.id !== job.id || now.compacted.summary?.id === made.id) return null;
    return compaction(now, { ...now.job, attempt: job.attempt }, made, times);
  });
}

/** `summary` null: tool results are shortened. */
function newCompaction(run: Run, { job, plan }: Compact, summary: string | null): NewCompaction {
  return {
    id: run.ids.next(),
    type: plan.type,
    branch: job.branch,
    uptoSeq: plan.uptoSeq,
    summary,
    model: null,
    tokensBefore: plan.tokensBefore,
    tokensAfter: tokensAfter(plan, summary ?? ''),
    jobId: job.id,
    usage: null,
  };
}
