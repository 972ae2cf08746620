/**
 * Runs a schedule that is due: at most one occurrence, in one transaction that takes the schedule, posts its input, adds
 * to its run log and goes on to the next occurrence. So an occurrence runs exactly once, whatever dies, and however many
 * processes try it. If the input is refused, a second transaction stores the refusal in place of it.
 */
import type { Refusal } from '../../core/errors.ts';
import type { TenantLimits } from '../../core/access/quotas.ts';
import type { ScheduleRunId } from '../../core/ids.ts';
import { plan, type Plan } from '../../core/schedules/plan.ts';
import type { ScheduleRun } from '../../core/schedules/schedule.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../../db/connection/client.ts';
import { advance, takeSchedule, type DueSchedule, type TakenSchedule } from '../../db/schedules/due-schedules.ts';
import { addRun } from '../../db/schedules/schedule-runs.ts';
import type { Accepted } from '../inputs/posted-input.ts';
import { done, perform, type Command, type Done, type Outcome } from '../perform.ts';
import { occurrencesOf } from './occurrences.ts';
import { NO_ROLE, postRun, replaceRun, type SchedulePorts, type ScheduleRole } from './post-run.ts';

/** `not_taken`: it was not due any more, or another process has it. */
export type DueRun = 'started' | 'skipped' | 'failed' | 'none' | 'not_taken';

/** `at`: the time in a test; null: by PostgreSQL's clock. */
export async function runDue(ports: SchedulePorts, due: DueSchedule, at: Millis | null = null): Promise<DueRun> {
  const role = due.worker === null ? NO_ROLE : await ports.roleOf(due, due.worker);
  const first = await perform(ports, runOnce(ports, due, role, at));
  if (first.kind === 'done') return first.value;
  const second = await perform(ports, runOnce(ports, due, first, at));
  if (second.kind === 'refused') throw new Error(`The refusal of a run was refused: ${second.message}`);
  return second.value;
}

function runOnce(
  ports: SchedulePorts,
  due: DueSchedule,
  role: ScheduleRole | Refusal,
  at: Millis | null,
): Command<DueRun> {
  return async (tx) => {
    const taken = await takeSchedule(tx, due, at);
    if (taken === null) return done('not_taken');
    const { schedule, now } = taken;
    const occurrences = occurrencesOf(schedule.timing, schedule.timezone);
    const planned = plan(occurrences, schedule, schedule.nextOccurrence, now);
    const ran = await carryOut(tx, ports, taken, planned.run === null ? null : limited(role, due));
    if (ran.kind === 'refused') return ran;
    await record(tx, ports, { schedule, planned, ran: ran.value });
    return done(ran.value.status ?? 'none', ...ran.afterCommit);
  };
}

/** What became of a run. */
type Ran =
  | { status: null }
  | { status: 'started'; accepted: Accepted }
  | { status: 'skipped' }
  | { status: 'failed'; refusal: Refusal };

type LimitedRole = ScheduleRole & { limits: TenantLimits };

function limited(role: ScheduleRole | Refusal, { limits }: DueSchedule): LimitedRole | Refusal {
  return role.kind === 'refused' ? role : { ...role, limits };
}

/** `role` null: nothing runs. */
async function carryOut(
  tx: Executor,
  ports: SchedulePorts,
  { schedule, isLastUnfinished }: TakenSchedule,
  role: LimitedRole | Refusal | null,
): Promise<Outcome<Ran>> {
  if (role === null) return done({ status: null });
  if (schedule.overlap === 'skip' && isLastUnfinished) return done({ status: 'skipped' });
  if (role.kind === 'refused') return done({ status: 'failed', refusal: role });
  const { lastJobId } = schedule;
  const replaces = schedule.overlap === 'interrupt' && isLastUnfinished && lastJobId !== null;
  const posted = replaces
    ? await replaceRun(tx, ports, { ...schedule, lastJobId }, role)
    : await postRun(tx, ports, schedule, role);
  return posted.kind === 'refused' ? posted : started(posted);
}

function started({ value, afterCommit }: Done<Accepted>): Done<Ran> {
  return done({ status: 'started', accepted: value }, ...afterCommit);
}

async function record(
  tx: Executor,
  { ids }: SchedulePorts,
  { schedule, planned, ran }: { schedule: TakenSchedule['schedule']; planned: Plan; ran: Ran },
): Promise<void> {
  const { run, missed, next } = planned;
  const { id, tenantId } = schedule;
  const entry = { ...NO_RESULT, scheduleId: id, tenantId };
  if (missed !== null) {
    const { from, upto } = missed;
    const first = { ...entry, id: ids.next<ScheduleRunId>(), status: 'missed', occurrence: from } as const;
    await addRun(tx, { ...first, missedUntil: upto });
  }
  if (ran.status !== null)
    await addRun(tx, { ...entry, id: ids.next<ScheduleRunId>(), occurrence: run, ...resultOf(ran) });
  const jobId = ran.status === 'started' ? ran.accepted.jobId : null;
  await advance(tx, id, { next, jobId, pausedReason: reasonToPause(schedule, ran) });
}

type Result = Pick<ScheduleRun, 'missedUntil' | 'jobId' | 'contextId' | 'messageId' | 'error'>;

const NO_RESULT: Result = { missedUntil: null, jobId: null, contextId: null, messageId: null, error: null };

function resultOf(ran: Exclude<Ran, { status: null }>): Result & Pick<ScheduleRun, 'status'> {
  const { status } = ran;
  switch (status) {
    case 'started': {
      const { jobId, contextId, messageId } = ran.accepted;
      return { ...NO_RESULT, status, jobId, contextId, messageId };
    }
    case 'skipped':
      return { ...NO_RESULT, status };
    case 'failed': {
      const { code, message } = ran.refusal;
      return { ...NO_RESULT, status, error: { code, message } };
    }
  }
}

/** A context that was deleted does not come back. Null: it goes on. */
function reasonToPause({ target }: TakenSchedule['schedule'], ran: Ran): string | null {
  const isGone = ran.status === 'failed' && target.kind === 'context' && ran.refusal.code === 'not_found';
  return isGone ? `${ran.refusal.message} It was deleted: choose another target, and set paused to false.` : null;
}
