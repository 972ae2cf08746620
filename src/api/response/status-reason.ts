/** Explains the state of a context: `why` for people, `waiting_for` for programs. Pure functions. */
import type { Millis } from '../../core/time.ts';
import type { Diagnosis } from '../../db/read/contexts/diagnoses.ts';
import { unsupported, type Names } from '../server/catalog.ts';
import { toIso } from '../request/instant.ts';
import type { ContextState } from '../schemas/contexts/context.ts';
import { toAwaited, toAwaitedBelow, toAwaitedWorker } from '../wire/job.ts';

/** Maximum number of characters of a question that are quoted. */
const LONGEST_QUOTE = 500;

/** `slots`: the limit of the tenant; missing: none. `names`: what the worker processes serve that begin runs; null: not known. */
export function toContextState(diagnosis: Diagnosis, { names, slots }: Known): ContextState {
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
    why: whyOf(diagnosis, { names, slots }),
  };
}

type Known = { names: Names | null; slots: number | undefined };

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

function whyOf(diagnosis: Diagnosis, { names, slots }: Known): string {
  const { active, stopped, schedulingStatus } = diagnosis;
  if (active?.stopping === true && schedulingStatus !== 'idle')
    return 'A stop request was accepted. The job is stopping.';
  if (stopped) return `The worker is stopped${queuedNote(diagnosis)}. Start the worker to continue.`;
  switch (schedulingStatus) {
    case 'idle':
      return atRest(diagnosis);
    case 'runnable':
      return unclaimable(diagnosis, names) ?? `The job waits for ${freeSlot(diagnosis, slots)}${placeNote(diagnosis)}.`;
    case 'waiting':
      return waitingFor(diagnosis, names);
    case 'running':
      return diagnosis.abandoned
        ? `The worker process that ran the job is gone. ${diagnosis.live ? 'Another one takes over soon' : 'No other worker process is running: start one'}.`
        : running(diagnosis);
  }
}

function atRest({ lastFailure, state }: Diagnosis): string {
  return state === 'PermanentFailure' && lastFailure !== null
    ? `The last job failed (${lastFailure.code}): ${ended(lastFailure.message)} Post a new input or retry to continue.`
    : 'The context is idle: no input is queued.';
}

/** Messages of providers may lack the final period. */
function ended(message: string): string {
  return /[.!?…]$/.test(message) ? message : `${message}.`;
}

function freeSlot({ slotsTaken }: Diagnosis, slots: number | undefined): string {
  return slots !== undefined && slotsTaken !== null && slotsTaken >= slots
    ? `a slot of its tenant, whose limit of ${slots} is reached`
    : 'a free worker process';
}

export const ALL_PAUSED = 'All worker processes are paused or draining: resume one, or start another.';

/** Why no worker process can claim the context; null: one can. */
function unclaimable({ live, isServed, config, role, definition }: Diagnosis, names: Names | null): string | null {
  if (!live) return 'No worker process is running: start one with `nightshift worker`.';
  if (!isServed) return ALL_PAUSED;
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
  if (blocked !== null) return `${blocked} The next check is ${again}.`;
  if (failedClaims > 1)
    return `${failedClaims} worker processes in a row died while they ran the job. The next attempt is ${again}.`;
  if (until !== null) return 'The retry time has passed. The job waits for a free worker process.';
  return `The worker process that ran the job could not continue. The next check is ${again}.`;
}

function running(diagnosis: Diagnosis): string {
  const { state, active, openCalls, awaited, now } = diagnosis;
  switch (state) {
    case 'ExecutingTools':
      return `The job runs tools: ${openCalls.join(', ')}.${awaited.length > 0 ? ` ${awaiting(awaited)}` : ''}`;
    case 'AwaitingLLMResponse':
      return `The job waits for the answer of the model${attemptNote(active?.attempt ?? 1)}.`;
    case 'TransientFailure':
      return putOff(diagnosis, active?.retryAt ?? now);
    case 'AwaitingInput':
    case 'AwaitingToolApproval':
      return awaited.length > 0 ? awaiting(awaited) : 'The answer has arrived. The job continues.';
    case 'AwaitingWorkers':
      return diagnosis.workers.length > 0
        ? awaitingWorkers(diagnosis.workers) + askingBelow(diagnosis)
        : 'The workers have finished. The job continues.';
    case 'Idle':
    case 'ProcessingUserMessage':
    case 'PermanentFailure':
    case 'Stopped':
      return 'A worker process has just claimed the job.';
  }
}

/** Quotes questions, and names client tools. */
function awaiting(awaited: Diagnosis['awaited']): string {
  return `The job waits ${awaited.map(awaitingOne).join('; and ')}`;
}

function awaitingOne({ name, question, since, until, for: what }: Diagnosis['awaited'][number]): string {
  const times = `since ${toIso(since)}${until === null ? '' : `, until ${toIso(until)}`}`;
  switch (what) {
    case 'approval':
      return `for a person to approve ${name} (${times})`;
    case 'outcome':
      return `for a person to resolve the unknown outcome of ${name} (${times})`;
    case 'workers':
      return `for other workers in ${name} (${times})`;
    case 'timer':
      return until === null ? `in ${name}` : `until ${toIso(until)}, requested by ${name}`;
    case 'answer':
      return question === null
        ? `for the client to post the result of ${name} (${times})`
        : `for an answer to a question (${times}): ${shortened(question)}`;
  }
}

/** Names a single worker; of several it gives the number. */
function awaitingWorkers([first, ...more]: Diagnosis['workers']): string {
  if (first === undefined || more.length > 0) return `The job waits for ${more.length + 1} workers to finish.`;
  return `The job waits for worker ${first.workerId} to finish.`;
}

/** Mentions a worker below that waits for a person or a client. */
function askingBelow({ below: [first, ...more] }: Diagnosis): string {
  if (first === undefined) return '';
  const others = more.length === 0 ? '' : ` ${more.length} more calls wait too.`;
  return ` Worker ${first.workerId} waits for a person or a client to answer its call of ${first.name}.${others}`;
}

function shortened(text: string): string {
  return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
}

/** Why the next model call is delayed until `until`. */
function putOff({ active, now }: Diagnosis, until: Millis): string {
  const error = active?.error ?? null;
  const again = `The next attempt is at ${toIso(until)}`;
  if (error === null) return `The last model call failed. ${again}.`;
  if ('code' in error) return `The last model call failed (${error.code}: ${error.message}). ${again}.`;
  const { provider, model, reason, until: throttledUntil } = error.throttled;
  const reasonText = reason === 'rate_limited' ? 'rate limited' : 'overloaded';
  const throttle =
    throttledUntil > now
      ? `is throttled until ${toIso(throttledUntil)} (${reasonText})`
      : `was throttled until ${toIso(throttledUntil)} (${reasonText}) and admits calls one at a time`;
  return `The model ${provider}/${model} ${throttle}. The next model call is at ${toIso(until)}.`;
}

function attemptNote(attempt: number): string {
  return attempt > 1 ? ` (attempt ${attempt})` : '';
}

function placeNote({ queuePosition, user, areUsersWaiting }: Diagnosis): string {
  if (queuePosition === null) return '';
  const ofNone = areUsersWaiting ? 'the contexts of this tenant without a user' : 'this tenant';
  return `, at position ${queuePosition} of ${user === '' ? ofNone : 'this user'}`;
}

function queuedNote({ queued }: Diagnosis): string {
  if (queued === 0) return '';
  return `, ${queued === 1 ? 'one input is' : `${queued} inputs are`} queued`;
}
