/**
 * What happens next in a context: the one place that decides. Pure. A fresh start, a retry, a resume after a wait and
 * recovery after a crash are the same call on what is stored. It is asked only while no effect is in flight, so a call
 * that is stored as started has lost its runner.
 */
import type { JobError } from './errors.ts';
import { wishedEnd } from './job.ts';
import type { ActiveJob, QueuedJob, Verdict } from './job.ts';
import { LIMITS } from './limits.ts';
import type { Message } from './message.ts';
import { HOLD_MS } from './retry.ts';
import type { Settings } from './settings.ts';
import type { Snapshot } from './snapshot.ts';
import type { Millis } from './time.ts';
import type { OpenCall } from './tool-call.ts';

export type Step =
  /** The next queued job becomes the running one; its input enters history. */
  | { kind: 'admit'; next: QueuedJob }
  /** Inputs that waited for the job's next step join it. */
  | { kind: 'steer'; job: ActiveJob }
  | { kind: 'call_model'; job: ActiveJob; settings: Settings }
  /** Run `run`; close `unknown`, which were begun and have nobody to tell how they ended. */
  | { kind: 'call_tools'; job: ActiveJob; settings: Settings; run: OpenCall[]; unknown: OpenCall[] }
  /** Not before `until`. A short wait holds its slot. */
  | { kind: 'wait'; job: ActiveJob; until: Millis; hold: boolean }
  | { kind: 'finish'; job: ActiveJob; verdict: Verdict }
  /** This process lacks what the context needs. */
  | { kind: 'hand_back'; missing: string[] }
  /** Nothing left to do. */
  | { kind: 'park' };

export function decide(snapshot: Snapshot, now: Millis): Step {
  const { job } = snapshot;
  return job === null ? betweenJobs(snapshot) : withinJob(snapshot, job, now);
}

function betweenJobs({ stopped, next, serving }: Snapshot): Step {
  if (stopped || next === null) return { kind: 'park' };
  if (next.wish === null && serving.kind === 'unserved') {
    return { kind: 'hand_back', missing: serving.missing };
  }
  return { kind: 'admit', next };
}

function withinJob(snapshot: Snapshot, job: ActiveJob, now: Millis): Step {
  const { serving, calls, history } = snapshot;
  const answer = calls.length > 0 || snapshot.steers.length > 0 ? null : answeredBy(history, job);
  const end = endedFromOutside(snapshot, job, answer, now);
  if (end !== null) return { kind: 'finish', job, verdict: end };
  if (serving.kind === 'unserved') return { kind: 'hand_back', missing: serving.missing };
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
  if (answer !== null) return { kind: 'finish', job, verdict: answer };
  return nextModelCall(job, serving.settings, now);
}

/** Ends that do not depend on what the model said; but an answer that was given in time counts, however late one looks. */
function endedFromOutside(
  snapshot: Snapshot,
  job: ActiveJob,
  answer: Verdict | null,
  now: Millis,
): Verdict | null {
  if (job.wish !== null) return wishedEnd(job.wish);
  if (snapshot.barrenClaims >= LIMITS.barrenClaims) return crashLoop(snapshot.barrenClaims);
  if (job.deadline !== null && job.deadline <= now && answer?.status !== 'completed') {
    return { status: 'incomplete', error: { code: 'deadline', message: 'The job passed its deadline.' } };
  }
  return null;
}

/** A job that kills whoever takes it up; known from the mailbox alone. */
export function crashLoop(barrenClaims: number): Verdict {
  const words = `${barrenClaims} processes in a row died on this job without bringing it forward.`;
  return failed('crash_loop', words);
}

/** Whether history already ends with what the job owes, or cannot be answered at all; null: a model call is due. */
function answeredBy(history: readonly Message[], job: ActiveJob): Verdict | null {
  const last = history.findLast((message) => message.role !== 'system');
  if (last === undefined) return failed('no_messages', 'The context holds no message to answer.');
  if (last.role !== 'assistant' || last.model?.finishReason === 'pause') return null;
  if (last.jobId !== job.id)
    return failed('last_not_input', 'The last message is not an input: nothing is left to answer.');
  return { status: 'completed', outputId: last.id };
}

function nextModelCall(job: ActiveJob, settings: Settings, now: Millis): Step {
  const maxSteps = job.maxSteps ?? settings.maxSteps;
  if (job.steps >= maxSteps) {
    const error: JobError = {
      code: 'max_steps',
      message: `The job made its ${maxSteps} model calls without an end.`,
    };
    return { kind: 'finish', job, verdict: { status: 'incomplete', error } };
  }
  if (job.retryAt !== null && job.retryAt > now) {
    const until = job.deadline === null ? job.retryAt : Math.min(job.retryAt, job.deadline);
    return { kind: 'wait', job, until, hold: until - now <= HOLD_MS };
  }
  return { kind: 'call_model', job, settings };
}

function failed(code: JobError['code'], message: string): Verdict {
  return { status: 'failed', error: { code, message } };
}
