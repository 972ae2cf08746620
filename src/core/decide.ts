/**
 * Decides the next step in a context; no other code does. Pure. A fresh start, a retry, a resume after a wait and
 * recovery after a crash all call it with the stored state. It is called only while no tool call or model call of
 * this run is in flight, so a call stored as started has lost the process that ran it.
 */
import { isMadeBy, type Unread } from './compaction/compacted.ts';
import { asAsked, planBeginning, planCompaction, type CompactionPlan } from './compaction/plan.ts';
import type { JobError } from './errors.ts';
import { isRefused, requestedEnd, type ActiveJob, type JobEnd, type JobOutcome, type QueuedJob } from './run/job.ts';
import { LIMITS } from './limits.ts';
import type { Message } from './conversation/message.ts';
import { outputFor, settingsFor, type Output, type OutputSettings } from './run/output.ts';
import { KEEP_SLOT_MS } from './run/retry.ts';
import type { Settings } from './workers/settings.ts';
import type { ServedJob, Snapshot } from './run/snapshot.ts';
import type { Millis } from './time.ts';
import { madeAt, type MessageId } from './ids.ts';
import type { OpenCall } from './tools/tool-call.ts';
import { isOver, isWaiting, type EndedWaits } from './run/wait.ts';
import { isAllowed, notAllowed } from './workers/allowed-names.ts';
import { WAIT_FOR_WORKERS } from './workers/worker-asks.ts';

/** Answers wake the context. This is the longest wait before the run checks without a wake-up. */
const LONGEST_WAIT_MS = 30 * 24 * 60 * 60 * 1_000;

/**
 * A job that was ending when the wait for it began may not send a wake-up: the run checks soon, then less and less
 * often.
 */
const LOOK_AGAIN_MS = 1_000;
/** Upper limit for a call that started to wait long after it was made, for example approved after days. */
const LOOK_AGAIN_AT_MOST_MS = 10 * 60 * 1_000;

export type Decision =
  /** The next queued job becomes the running job; its input enters history. */
  | { kind: 'admit'; next: QueuedJob }
  /** Steered inputs that waited for the job's next step enter history. */
  | { kind: 'steer'; job: ActiveJob }
  /** Older messages are compacted to make room in the prompt. */
  | ({ kind: 'compact'; plan: CompactionPlan } & ServedJob)
  | ({ kind: 'call_model' } & ServedJob)
  /**
   * Run the calls in `run`. Close those in `unknown`: they were started and no process is left to report their
   * outcome.
   */
  | ({ kind: 'call_tools'; run: OpenCall[]; unknown: OpenCall[] } & ServedJob)
  /** Waits have ended or timed out: the results enter history. */
  | ({ kind: 'end_waits' } & EndedWaits)
  /** Only waiting calls are left. `until`: when to check again without a wake-up. */
  | { kind: 'await_calls'; job: ActiveJob; until: Millis }
  /** Wait until `until`. A short wait keeps its slot. */
  | { kind: 'wait'; job: ActiveJob; until: Millis; keepSlot: boolean }
  /** History ends with the answer `outputId`: it is checked, and the job ends or the model is asked again. */
  | { kind: 'check_output'; job: ActiveJob; output: Output; outputId: MessageId }
  | ({ kind: 'finish' } & JobEnd)
  /** This process lacks what the context needs, so it releases the context. */
  | { kind: 'release_unsupported'; missing: string[] }
  /** The tenant is not active: the next job begins once it is, in whatever process. */
  | { kind: 'release' }
  | { kind: 'park' };

export function decide(snapshot: Snapshot, now: Millis): Decision {
  const { job } = snapshot;
  return job === null ? betweenJobs(snapshot) : withinJob(snapshot, job, now);
}

function betweenJobs({ stopped, next, serving, isTenantActive }: Snapshot): Decision {
  if (stopped || next === null) return { kind: 'park' };
  if (!isTenantActive && next.stopRequest === null) return { kind: 'release' };
  if (next.stopRequest === null && serving.kind === 'unsupported') {
    return { kind: 'release_unsupported', missing: serving.missing };
  }
  return { kind: 'admit', next };
}

function withinJob(snapshot: Snapshot, job: ActiveJob, now: Millis): Decision {
  const { serving, calls, history } = snapshot;
  const answer = isBusy(snapshot, job) ? null : answeredBy(history, job);
  const end = endedFromOutside(snapshot, job, answer, now);
  if (end !== null) return { kind: 'finish', job, outcome: end };
  if (serving.kind === 'not_allowed')
    return answer === null
      ? { kind: 'finish', job, outcome: failed('not_allowed', serving.message) }
      : withAnswer(job, answer, serving.output);
  if (calls.length > 0 && calls.every((call) => isWaiting(call, now))) {
    return { kind: 'await_calls', job, until: awaitedUntil(calls, job, now) };
  }
  if (serving.kind === 'unsupported') return { kind: 'release_unsupported', missing: serving.missing };
  const over = calls.filter((call) => isOver(call, now));
  if (over.length > 0) return { kind: 'end_waits', job, over, now };
  if (calls.length > 0) {
    return {
      kind: 'call_tools',
      job,
      settings: serving.settings,
      run: calls.filter((call) => call.status === 'pending'),
      unknown: calls.filter((call) => call.status === 'started'),
    };
  }
  if (snapshot.steers.length > 0) return { kind: 'steer', job };
  if (answer !== null) return withAnswer(job, answer, serving.settings);
  return job.kind === 'compact'
    ? nextCompaction(snapshot, job, serving.settings, now)
    : nextModelCall(snapshot, job, serving.settings, now);
}

function withAnswer(job: ActiveJob, answer: JobOutcome, settings: OutputSettings): Decision {
  const output = outputFor(job, settings);
  if (answer.status !== 'completed' || answer.outputId === null || output === null)
    return { kind: 'finish', job, outcome: answer };
  return { kind: 'check_output', job, output, outputId: answer.outputId };
}

/** Whether there is work besides what history shows; a compaction needs no answer. */
function isBusy({ calls, steers }: Snapshot, { kind }: ActiveJob): boolean {
  return calls.length > 0 || steers.length > 0 || kind === 'compact';
}

/**
 * Outcomes that do not depend on the model's answer. An answer given in time still counts, however late it is
 * processed.
 */
function endedFromOutside(
  snapshot: Snapshot,
  job: ActiveJob,
  answer: JobOutcome | null,
  now: Millis,
): JobOutcome | null {
  if (job.stopRequest !== null) return requestedEnd(job.stopRequest);
  if (snapshot.failedClaims >= LIMITS.failedClaims) return crashLoop(snapshot.failedClaims);
  if (job.deadline !== null && job.deadline <= now && answer?.status !== 'completed') {
    return { status: 'incomplete', error: { code: 'deadline', message: 'The job passed its deadline.' } };
  }
  return null;
}

/** The outcome of a job that kills the processes that run it; needs no history. */
export function crashLoop(failedClaims: number): JobOutcome {
  const message = `${failedClaims} processes in a row died while running this job, without any progress.`;
  return failed('crash_loop', message);
}

function historyTooLong({ readBytes, bytes }: Unread): JobOutcome {
  const [sizeMb, limitMb] = [readBytes + bytes, LIMITS.historyBytes].map((one) => Math.ceil(one / 1024 / 1024));
  const message = `The history since the last summary is ${sizeMb} MB; a worker process reads at most ${limitMb} MB. Compact the context with type llm, clear it, or continue in another context.`;
  return failed('prompt_too_long', message);
}

/** Whether history already ends with the job's answer, or cannot be answered at all; null: a model call is due. */
function answeredBy(history: readonly Message[], job: ActiveJob): JobOutcome | null {
  const last = history.findLast(({ role, type }) => role !== 'system' || type === 'correction');
  if (last === undefined) return failed('empty_context', 'The context has no message to answer.');
  if (last.role !== 'assistant' || last.model?.finishReason === 'pause') return null;
  if (last.jobId !== job.id)
    return failed('nothing_to_answer', 'The last message is not an input, so there is nothing to answer.');
  return { status: 'completed', outputId: last.id };
}

function awaitedUntil(calls: readonly OpenCall[], { deadline }: ActiveJob, now: Millis): Millis {
  const ends = calls.flatMap(({ wait }) => wait?.until ?? []);
  const looks = calls
    .filter(({ name, wait }) => name === WAIT_FOR_WORKERS && wait?.for === 'workers')
    .map(({ id }) => now + Math.min(LOOK_AGAIN_AT_MOST_MS, Math.max(LOOK_AGAIN_MS, now - madeAt(id))));
  return Math.min(deadline ?? Infinity, now + LONGEST_WAIT_MS, ...ends, ...looks);
}

/** A prompt needs the whole history. If the history is too large to read at once, its beginning is summarised first. */
function shortenUnread(snapshot: Snapshot, unread: Unread, job: ActiveJob, settings: Settings): Decision {
  const plan = planBeginning(snapshot, unread, settingsFor(job, settings));
  if (plan === null) return { kind: 'finish', job, outcome: historyTooLong(unread) };
  return { kind: 'compact', job, settings, plan };
}

/** A compaction may take several steps. If nothing is left to compact, the job is completed. */
function nextCompaction(snapshot: Snapshot, job: ActiveJob, given: Settings, now: Millis): Decision {
  const asked = job.asked ?? {};
  const { allow } = snapshot;
  if (asked.model !== undefined && !isAllowed(allow, 'models', asked.model))
    return { kind: 'finish', job, outcome: failed('not_allowed', notAllowed(allow, 'models', [asked.model])) };
  const settings = asAsked(given, asked);
  if (snapshot.unread !== null) return putOff(job, now) ?? shortenUnread(snapshot, snapshot.unread, job, settings);
  const plan = planCompaction(
    snapshot,
    settingsFor(job, settings),
    isMadeBy(snapshot.compacted, job.id) ? 'rest' : 'asked',
  );
  if (plan === null) return { kind: 'finish', job, outcome: { status: 'completed', outputId: null } };
  return putOff(job, now) ?? { kind: 'compact', job, settings, plan };
}

function nextModelCall(snapshot: Snapshot, job: ActiveJob, settings: Settings, now: Millis): Decision {
  const maxSteps = job.maxSteps ?? settings.maxSteps;
  if (job.steps >= maxSteps) {
    const error: JobError = {
      code: 'max_steps',
      message: `Stopped: reached max_steps (${maxSteps}).`,
    };
    return { kind: 'finish', job, outcome: { status: 'incomplete', error } };
  }
  const wait = putOff(job, now);
  if (wait !== null) return wait;
  if (snapshot.unread !== null) return shortenUnread(snapshot, snapshot.unread, job, settings);
  const refusal = isRefused(job) ? job.lastFailure : null;
  const plan = planCompaction(snapshot, settingsFor(job, settings), refusal === null ? 'due' : 'refused');
  if (plan !== null) return { kind: 'compact', job, settings, plan };
  if (refusal !== null) {
    return { kind: 'finish', job, outcome: failed(refusal.code, refusal.message) };
  }
  return { kind: 'call_model', job, settings };
}

/** Waits until the time of the next retry. */
function putOff(job: ActiveJob, now: Millis): Decision | null {
  if (job.retryAt === null || job.retryAt <= now) return null;
  const until = job.deadline === null ? job.retryAt : Math.min(job.retryAt, job.deadline);
  return { kind: 'wait', job, until, keepSlot: until - now <= KEEP_SLOT_MS };
}

function failed(code: JobError['code'], message: string): JobOutcome {
  return { status: 'failed', error: { code, message } };
}
