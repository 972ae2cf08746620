/**
 * Runs schedules, releases delayed inputs that are due, and makes jobs of submissions. Every worker process looks about
 * once a second, at the moment at which the next one is due, and when a service announces submissions. It needs no Redis.
 */
import { mapConcurrent } from '../../commands/map-concurrent.ts';
import type { SchedulePorts } from '../../commands/schedules/post-run.ts';
import { releaseDueInputs } from '../../commands/inputs/release-due.ts';
import { perform } from '../../commands/perform.ts';
import { runDue, type DueRun } from '../../commands/schedules/run-due.ts';
import { dueSchedules, postpone, type DueSchedule } from '../../db/schedules/due-schedules.ts';
import { contextsWithDue, type DueContext } from '../../db/write/inputs/delayed-inputs.ts';
import type { WorkerState } from '../process/ports.ts';
import { APART_MS, Looks } from './looks.ts';
import { turnDueSubmissions } from './submissions.ts';

/** Time between two looks, in milliseconds, a quarter more or less. */
const LOOK_MS = 1_000;
/** Schedules, or delayed inputs, of one batch. */
const MOST = 50;
/** When a schedule is tried again after an error, in milliseconds. */
const AGAIN_MS = 10_000;

type State = Pick<
  WorkerState,
  'database' | 'wakeQueue' | 'bus' | 'ids' | 'times' | 'peers' | 'log' | 'metrics' | 'random' | 'identity'
> &
  Pick<WorkerState, 'scheduledRole' | 'readSubmission'>;

/** Looks until it is stopped. */
export function createScheduleRunner(state: State, lookMs = LOOK_MS): Looks {
  return new Looks(state.bus, async () => {
    const longest = lookMs * (0.75 + state.random() / 2);
    return { ms: Math.min(await look(state, longest), longest), isFirm: false };
  });
}

/** Returns how long until the next look, in milliseconds. */
async function look(state: State, lookMs: number): Promise<number> {
  const { log, identity } = state;
  if (identity() === null) return lookMs;
  const [schedules, delayed, submitted] = await Promise.allSettled([
    runDueSchedules(state),
    releaseDueContexts(state),
    turnDueSubmissions(state),
  ]);
  if (schedules.status === 'rejected') log.warn({ err: schedules.reason }, 'could not run schedules');
  if (delayed.status === 'rejected') log.warn({ err: delayed.reason }, 'could not release delayed inputs');
  if (submitted.status === 'rejected') log.warn({ err: submitted.reason }, 'could not make jobs of submissions');
  const looks = [schedules, delayed, submitted];
  return Math.min(...looks.map((one) => (one.status === 'fulfilled' ? one.value : lookMs)));
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
