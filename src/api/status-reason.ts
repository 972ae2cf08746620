/** Why a context is not further, in one plain sentence; and what it waits for, for programs. Pure. */
import type { Millis } from '../core/time.ts';
import type { Diagnosis } from '../db/diagnoses.ts';
import { unsupported } from './catalog.ts';
import type { Names } from './catalog.ts';
import { toIso } from './instant.ts';
import type { ContextState } from './schemas/context.ts';
import { toAwaited, toAwaitedBelow, toAwaitedWorker } from './wire/job.ts';

/** Characters of a question that are quoted. */
const LONGEST_QUOTE = 500;

export function toContextState(diagnosis: Diagnosis, names: Names | null): ContextState {
  const { active, next } = diagnosis;
  const job = active ?? next;
  return {
    state: diagnosis.state,
    since: toIso(diagnosis.since),
    job_id: job?.id ?? null,
    attempt: job?.attempt ?? null,
    waiting_for: [
      ...diagnosis.awaited.map(toAwaited),
      ...diagnosis.workers.map(toAwaitedWorker),
      ...diagnosis.below.map(toAwaitedBelow),
      ...timerOf(diagnosis),
    ],
    queue_position: diagnosis.queuePosition,
    why: whyOf(diagnosis, names),
  };
}

function timerOf({
  active,
  now,
  schedulingStatus,
  nextCheckAt,
  awaited,
  workers,
}: Diagnosis): ContextState['waiting_for'] {
  const isAsked = awaited.length + workers.length > 0;
  const until = active?.retryAt ?? (schedulingStatus === 'waiting' && !isAsked ? nextCheckAt : null);
  return until === null || until <= now ? [] : [{ kind: 'timer', until: toIso(until) }];
}

export function whyOf(diagnosis: Diagnosis, names: Names | null): string {
  const { active, stopped, schedulingStatus } = diagnosis;
  if (active?.stopping === true && schedulingStatus !== 'idle') return 'It was told to stop and is about to.';
  if (stopped) return `The worker is stopped${queuedNote(diagnosis)}. Start it to go on.`;
  switch (schedulingStatus) {
    case 'idle':
      return atRest(diagnosis);
    case 'runnable':
      return unclaimable(diagnosis, names) ?? `It waits for a free worker process${placeNote(diagnosis)}.`;
    case 'waiting':
      return waitingFor(diagnosis, names);
    case 'running':
      return diagnosis.abandoned
        ? `The worker process that ran it is gone; ${diagnosis.live ? 'another one takes over' : 'no other one lives: start one'}.`
        : running(diagnosis);
  }
}

function atRest({ lastFailure, state }: Diagnosis): string {
  return state === 'PermanentFailure' && lastFailure !== null
    ? `The last job failed (${lastFailure.code}): ${ended(lastFailure.message)} A new input or a retry goes on.`
    : 'Nothing is queued: it waits for an input.';
}

/** What a provider said need not end like a sentence. */
function ended(message: string): string {
  return /[.!?…]$/.test(message) ? message : `${message}.`;
}

/** Why nobody can take it up; null: somebody can. */
function unclaimable({ live, config, role, definition }: Diagnosis, names: Names | null): string | null {
  if (!live) return 'No worker process lives: start one.';
  const missing =
    names === null ? [] : unsupported({ ...definition, ...config }, definition === null ? role : null, names);
  return missing.length === 0 ? null : `No live worker process serves ${missing.join(', ')}.`;
}

function waitingFor(diagnosis: Diagnosis, names: Names | null): string {
  const { active, now, nextCheckAt, failedClaims, awaited, workers } = diagnosis;
  if (awaited.length > 0) return awaiting(awaited);
  if (workers.length > 0) return awaitingWorkers(workers) + askingBelow(diagnosis);
  const until = active?.retryAt ?? null;
  if (until !== null && until > now) return putOff(diagnosis, until);
  const again = nextCheckAt === null || nextCheckAt <= now ? 'shortly' : `at ${toIso(nextCheckAt)}`;
  const blocked = unclaimable(diagnosis, names);
  if (blocked !== null) return `${blocked} It is looked at again ${again}.`;
  if (failedClaims > 1)
    return `${failedClaims} worker processes in a row died on it. It is tried again ${again}.`;
  if (until !== null) return 'The wait is over: it waits for a free worker process.';
  return `The process that held it could not go on. It is looked at again ${again}.`;
}

function running(diagnosis: Diagnosis): string {
  const { state, active, openCalls, awaited, now } = diagnosis;
  switch (state) {
    case 'ExecutingTools':
      return `It runs tools: ${openCalls.join(', ')}.${awaited.length > 0 ? ` ${awaiting(awaited)}` : ''}`;
    case 'AwaitingLLMResponse':
      return `It waits for the model's answer${attemptNote(active?.attempt ?? 1)}.`;
    case 'TransientFailure':
      return putOff(diagnosis, active?.retryAt ?? now);
    case 'AwaitingInput':
    case 'AwaitingToolApproval':
      return awaited.length > 0 ? awaiting(awaited) : 'It was told, and is about to go on.';
    case 'AwaitingWorkers':
      return diagnosis.workers.length > 0
        ? awaitingWorkers(diagnosis.workers) + askingBelow(diagnosis)
        : 'The workers it waited for are done, and it is about to go on.';
    case 'Idle':
    case 'ProcessingUserMessage':
    case 'PermanentFailure':
    case 'Stopped':
      return 'A worker process has just taken it up.';
  }
}

/** A question is quoted; what a client runs is named. */
function awaiting(awaited: Diagnosis['awaited']): string {
  const told = awaited.map((one) => awaitingOne(one));
  return `It waits ${told.join('; and ')}`;
}

function awaitingOne({ name, question, since, until, for: what }: Diagnosis['awaited'][number]): string {
  const times = `since ${toIso(since)}${until === null ? '' : `, until ${toIso(until)}`}`;
  switch (what) {
    case 'approval':
      return `for a person to approve ${name} (${times})`;
    case 'outcome':
      return `for a person to say what became of ${name} (${times})`;
    case 'workers':
      return `for other workers, in ${name} (${times})`;
    case 'timer':
      return until === null ? `in ${name}` : `until ${toIso(until)}, as ${name} asked for`;
    case 'answer':
      return question === null
        ? `for the result of ${name}, which the client runs (${times})`
        : `for an answer to a question (${times}): ${shortened(question)}`;
  }
}

/** One is named, of several their number is. */
function awaitingWorkers([first, ...more]: Diagnosis['workers']): string {
  if (first === undefined || more.length > 0) return `It waits for ${more.length + 1} workers to be done.`;
  return `It waits for worker ${first.workerId} to be done.`;
}

/** Whether one of them waits for a person or a client itself. */
function askingBelow({ below: [first, ...more] }: Diagnosis): string {
  if (first === undefined) return '';
  const others = more.length === 0 ? '' : ` So do ${more.length} other calls.`;
  return ` Worker ${first.workerId} waits for somebody outside to answer its call of ${first.name}.${others}`;
}

function shortened(text: string): string {
  return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
}

/** The next model call is not made before `until`: why. */
function putOff({ active, now }: Diagnosis, until: Millis): string {
  const error = active?.error ?? null;
  const again = `is made again at ${toIso(until)}`;
  if (error === null) return `The last model call failed. It ${again}.`;
  if ('code' in error) return `The last model call failed (${error.code}: ${error.message}). It ${again}.`;
  const { provider, reason, until: throttledUntil } = error.throttled;
  const words = reason === 'rate_limited' ? 'rate limited' : 'overloaded';
  const throttle =
    throttledUntil > now
      ? `is held back until ${toIso(throttledUntil)} (${words})`
      : `was held back until ${toIso(throttledUntil)} (${words}), and lets calls in one after the other`;
  return `The provider key of ${provider} ${throttle}. The model is called at ${toIso(until)}.`;
}

function attemptNote(attempt: number): string {
  return attempt > 1 ? ` (attempt ${attempt})` : '';
}

function placeNote({ queuePosition }: Diagnosis): string {
  return queuePosition === null ? '' : `: number ${queuePosition} in the queue`;
}

function queuedNote({ queued }: Diagnosis): string {
  if (queued === 0) return '';
  return `, ${queued === 1 ? 'one input is' : `${queued} inputs are`} queued`;
}
