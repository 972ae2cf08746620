/** Why a context is not further, in one plain sentence; and what it waits for, for programs. Pure. */
import type { Millis } from '../core/time.ts';
import type { Situation } from '../db/context-views.ts';
import { unserved } from './catalog.ts';
import type { Names } from './catalog.ts';
import { toIso } from './instant.ts';
import type { ContextState } from './schemas/context.ts';

export function toContextState(situation: Situation, names: Names | null): ContextState {
  const { active, next } = situation;
  const job = active ?? next;
  return {
    state: situation.state,
    since: toIso(situation.since),
    job_id: job?.id ?? null,
    attempt: job?.attempt ?? null,
    waiting_for: timerOf(situation),
    queue_position: situation.queuePosition,
    why: whyOf(situation, names),
  };
}

function timerOf({ active, now, status, sweepAt }: Situation): ContextState['waiting_for'] {
  const until = active?.retryAt ?? (status === 'waiting' ? sweepAt : null);
  return until === null || until <= now ? [] : [{ kind: 'timer', until: toIso(until) }];
}

export function whyOf(situation: Situation, names: Names | null): string {
  const { active, stopped, status } = situation;
  if (active?.stopping === true && status !== 'idle') return 'It was told to stop and is about to.';
  if (stopped) return `The worker is stopped${queuedNote(situation)}. Start it to go on.`;
  switch (status) {
    case 'idle':
      return atRest(situation);
    case 'runnable':
      return unclaimable(situation, names) ?? `It waits for a free worker process${placeNote(situation)}.`;
    case 'waiting':
      return waitingFor(situation, names);
    case 'running':
      return situation.abandoned
        ? `The worker process that ran it is gone; ${situation.live ? 'another one takes over' : 'no other one lives: start one'}.`
        : running(situation);
  }
}

function atRest({ lastFailure, state }: Situation): string {
  return state === 'PermanentFailure' && lastFailure !== null
    ? `The last job failed (${lastFailure.code}): ${lastFailure.message} A new input or a retry goes on.`
    : 'Nothing is queued: it waits for an input.';
}

/** Why nobody can take it up; null: somebody can. */
function unclaimable({ live, config, role, definition }: Situation, names: Names | null): string | null {
  if (!live) return 'No worker process lives: start one.';
  const missing =
    names === null ? [] : unserved({ ...definition, ...config }, definition === null ? role : null, names);
  return missing.length === 0 ? null : `No live worker process serves ${missing.join(', ')}.`;
}

function waitingFor(situation: Situation, names: Names | null): string {
  const { active, now, sweepAt, barrenClaims } = situation;
  const until = active?.retryAt ?? null;
  if (until !== null && until > now) return putOff(situation, until);
  const again = sweepAt === null || sweepAt <= now ? 'shortly' : `at ${toIso(sweepAt)}`;
  const blocked = unclaimable(situation, names);
  if (blocked !== null) return `${blocked} It is looked at again ${again}.`;
  if (barrenClaims > 1)
    return `${barrenClaims} worker processes in a row died on it. It is tried again ${again}.`;
  if (until !== null) return 'The wait is over: it waits for a free worker process.';
  return `The process that held it could not go on. It is looked at again ${again}.`;
}

function running(situation: Situation): string {
  const { state, active, openCalls, now } = situation;
  switch (state) {
    case 'ExecutingTools':
      return `It runs tools: ${openCalls.join(', ')}.`;
    case 'AwaitingLLMResponse':
      return `It waits for the model's answer${attemptNote(active?.attempt ?? 1)}.`;
    case 'TransientFailure':
      return putOff(situation, active?.retryAt ?? now);
    case 'AwaitingToolApproval':
    case 'AwaitingInput':
      return 'It waits for a person.';
    case 'AwaitingWorkers':
      return 'It waits for other workers.';
    case 'Idle':
    case 'ProcessingUserMessage':
    case 'PermanentFailure':
    case 'Stopped':
      return 'A worker process has just taken it up.';
  }
}

/** The next model call is not made before `until`: why. */
function putOff({ active, now }: Situation, until: Millis): string {
  const error = active?.error ?? null;
  const again = `is made again at ${toIso(until)}`;
  if (error === null) return `The last model call failed. It ${again}.`;
  if ('code' in error) return `The last model call failed (${error.code}: ${error.message}). It ${again}.`;
  const { provider, reason, until: heldUntil } = error.held_back;
  const words = reason === 'rate_limited' ? 'rate limited' : 'overloaded';
  const hold =
    heldUntil > now
      ? `is held back until ${toIso(heldUntil)} (${words})`
      : `was held back until ${toIso(heldUntil)} (${words}), and lets calls in one after the other`;
  return `The provider key of ${provider} ${hold}. The model is called at ${toIso(until)}.`;
}

function attemptNote(attempt: number): string {
  return attempt > 1 ? ` (attempt ${attempt})` : '';
}

function placeNote({ queuePosition }: Situation): string {
  return queuePosition === null ? '' : `: number ${queuePosition} in the queue`;
}

function queuedNote({ queued }: Situation): string {
  if (queued === 0) return '';
  return `, ${queued === 1 ? 'one input is' : `${queued} inputs are`} queued`;
}
