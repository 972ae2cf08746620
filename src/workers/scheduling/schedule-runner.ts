/**
 * Runs schedules, releases delayed inputs that are due, and makes jobs of submissions. Every worker process looks about
 * once a second, at the moment at which the next one is due, and when a service announces submissions. It needs no Redis.
 */
import { setTimeout } from 'node:timers/promises';
import { submissionsDue } from '../../bus/bus.ts';
import { mapConcurrent } from '../../commands/map-concurrent.ts';
import type { SchedulePorts } from '../../commands/schedules/post-run.ts';
import { releaseDueInputs } from '../../commands/inputs/release-due.ts';
import { perform } from '../../commands/perform.ts';
import { runDue, type DueRun } from '../../commands/schedules/run-due.ts';
import { dueSchedules, postpone, type DueSchedule } from '../../db/schedules/due-schedules.ts';
import { contextsWithDue, type DueContext } from '../../db/write/inputs/delayed-inputs.ts';
import type { WorkerState } from '../process/ports.ts';
import { turnDueSubmissions } from './submissions.ts';

/** Time between two looks, in milliseconds, a quarter more or less. */
const LOOK_MS = 1_000;
/** Schedules, or delayed inputs, of one batch. */
const MOST = 50;
/** Time between two looks at least, unless the first found as many as it may run, in milliseconds. */
const APART_MS = 100;
/** When a schedule is tried again after an error, in milliseconds. */
const AGAIN_MS = 10_000;

type State = Pick<
  WorkerState,
  'database' | 'wakeQueue' | 'bus' | 'ids' | 'times' | 'peers' | 'log' | 'metrics' | 'random' | 'identity'
> &
  Pick<WorkerState, 'scheduledRole' | 'readSubmission'>;

export class ScheduleRunner {
  readonly #state: State;
  readonly #lookMs: number;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** Ends the time until the next look. */
  #hurry = new AbortController();
  #unsubscribe: () => void = () => undefined;

  constructor(state: State, lookMs = LOOK_MS) {
    this.#state = state;
    this.#lookMs = lookMs;
  }

  async subscribe(): Promise<void> {
    this.#unsubscribe = await this.#state.bus.subscribe(submissionsDue(), () => this.#hurry.abort());
  }

  start(): void {
    this.#running = this.#repeat();
  }

  /** Resolves after the current batch. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#unsubscribe();
    await this.#running;
  }

  async #repeat(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const lookMs = this.#lookMs * (0.75 + this.#state.random() / 2);
      // Before the look, so that it does not miss what is announced meanwhile.
      this.#hurry = new AbortController();
      const ms = Math.min(await this.#look(lookMs), lookMs);
      const soon = Math.min(ms, APART_MS);
      await setTimeout(soon, undefined, { signal }).catch(() => undefined);
      const until = AbortSignal.any([signal, this.#hurry.signal]);
      await setTimeout(ms - soon, undefined, { signal: until }).catch(() => undefined);
    }
  }

  /** Returns how long until the next look, in milliseconds. */
  async #look(lookMs: number): Promise<number> {
    const { log, identity } = this.#state;
    if (identity() === null) return lookMs;
    const [schedules, delayed, submitted] = await Promise.allSettled([
      runDueSchedules(this.#state),
      releaseDueContexts(this.#state),
      turnDueSubmissions(this.#state),
    ]);
    if (schedules.status === 'rejected') log.warn({ err: schedules.reason }, 'could not run schedules');
    if (delayed.status === 'rejected') log.warn({ err: delayed.reason }, 'could not release delayed inputs');
    if (submitted.status === 'rejected') log.warn({ err: submitted.reason }, 'could not make jobs of submissions');
    const looks = [schedules, delayed, submitted];
    return Math.min(...looks.map((look) => (look.status === 'fulfilled' ? look.value : lookMs)));
  }
}

/** Runs one batch. Returns how long until the next one, in milliseconds. */
export async function runDueSchedules(state: State): Promise<number> {
  const { due, nextInMs } = await dueSchedules(state.database.db, MOST);
  const ran = await mapConcurrent(due, (one) => runOrPostpone(state, one));
  const hasRun = ran.some((one) => one !== 'not_taken');
  return nextLook({ found: due.length, hasRun, nextInMs });
}

/** Releases one batch of delayed inputs. Returns how long until the next one, in milliseconds. */
export async function releaseDueContexts(
  state: Pick<State, 'database' | 'wakeQueue' | 'bus' | 'log'>,
): Promise<number> {
  const { due, nextInMs } = await contextsWithDue(state.database.db, MOST);
  const released = await mapConcurrent(due, (one) => release(state, one));
  return nextLook({ found: due.length, hasRun: released.includes(true), nextInMs });
}

/** One that fails does not hold up the others. It stays due, and the next look finds it again. */
async function release(state: Parameters<typeof releaseDueContexts>[0], due: DueContext): Promise<boolean> {
  try {
    const outcome = await perform(state, releaseDueInputs(due));
    return outcome.kind === 'done' && outcome.value;
  } catch (error) {
    state.log.warn({ err: error, context_id: due.contextId }, 'could not release the delayed inputs of a context');
    return false;
  }
}

/** `found`: how many were due. `nextInMs`: how long until the next one is due; null: none is. */
type Looked = { found: number; hasRun: boolean; nextInMs: number | null };

/** If other processes have taken all that were due, this one waits for its next look. */
function nextLook({ found, hasRun, nextInMs }: Looked): number {
  if (hasRun) return found === MOST ? 0 : APART_MS;
  return found > 0 || nextInMs === null ? Infinity : Math.max(nextInMs + 1, APART_MS);
}

async function runOrPostpone(state: State, due: DueSchedule): Promise<DueRun> {
  const { times, peers, log } = state;
  try {
    return await runDue(portsOf(state, times.stopGraceMs, peers.queuedInputs), due);
  } catch (error) {
    log.warn({ err: error, schedule_id: due.id }, 'could not run a schedule');
    await postpone(state.database.db, due, AGAIN_MS);
    return 'not_taken';
  }
}

function portsOf(state: State, stopGraceMs: number, queueLimit: number): SchedulePorts {
  return { ...state, stopGraceMs, queueLimit, tenantLimits: state.peers.tenantLimits, roleOf: state.scheduledRole };
}
