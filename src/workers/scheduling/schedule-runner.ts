/**
 * Runs schedules that are due. Every worker process looks about once a second, and at the moment at which the next one
 * is due. It needs no Redis.
 */
import { setTimeout } from 'node:timers/promises';
import { mapConcurrent } from '../../commands/map-concurrent.ts';
import type { SchedulePorts } from '../../commands/schedules/post-run.ts';
import { runDue, type DueRun } from '../../commands/schedules/run-due.ts';
import { dueSchedules, postpone, type DueSchedule } from '../../db/schedules/due-schedules.ts';
import type { WorkerState } from '../process/ports.ts';

/** Time between two looks, in milliseconds, a quarter more or less. */
const LOOK_MS = 1_000;
/** Schedules of one batch. */
const MOST = 50;
/** When a schedule is tried again after an error, in milliseconds. */
const AGAIN_MS = 10_000;

type State = Pick<
  WorkerState,
  'database' | 'wakeQueue' | 'bus' | 'ids' | 'times' | 'peers' | 'log' | 'random' | 'identity'
> &
  Pick<WorkerState, 'scheduledRole'>;

export class ScheduleRunner {
  readonly #state: State;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(state: State) {
    this.#state = state;
  }

  start(): void {
    this.#running = this.#repeat();
  }

  /** Resolves after the current batch. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #repeat(): Promise<void> {
    const { signal } = this.#stopping;
    const { log, random, identity } = this.#state;
    while (!signal.aborted) {
      const lookMs = LOOK_MS * (0.75 + random() / 2);
      const look = identity() === null ? Promise.resolve(lookMs) : runDueSchedules(this.#state);
      const ms = await look.catch((error: unknown) => {
        log.warn({ err: error }, 'could not run schedules');
        return lookMs;
      });
      await setTimeout(Math.min(ms, lookMs), undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Time between two looks at least, unless the first found as many as it may run, in milliseconds. */
const APART_MS = 100;

/** Runs one batch. Returns how long until the next one, in milliseconds. */
export async function runDueSchedules(state: State): Promise<number> {
  const { due, nextInMs } = await dueSchedules(state.database.db, MOST);
  const ran = await mapConcurrent(due, (one) => runOrPostpone(state, one));
  // If other processes have taken all of them, this one waits.
  const hasRun = ran.some((one) => one !== 'not_taken');
  if (hasRun) return due.length === MOST ? 0 : APART_MS;
  return due.length > 0 || nextInMs === null ? Infinity : Math.max(nextInMs + 1, APART_MS);
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
