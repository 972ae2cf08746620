/** Texts about schedules, and how one is found. */
import type { Client, Schedule, ScheduleRun } from '../../../client/index.ts';
import { CommandError, EXIT } from '../../exit.ts';
import { isId } from '../../find.ts';

/** By id or name. Throws, listing the ids, if several have the name. */
export async function findSchedule(client: Client, named: string): Promise<Schedule> {
  if (isId(named)) return client.schedules.get(named);
  const found: Schedule[] = [];
  for await (const schedule of client.schedules.list({ limit: 200 })) if (schedule.name === named) found.push(schedule);
  const [only, ...others] = found;
  if (only === undefined)
    throw new CommandError(EXIT.failed, `No schedule is named ${named}. Run nightshift schedules to list them.`);
  if (others.length === 0) return only;
  const ids = found.map(({ id, created_at }) => `  ${id}  created ${created_at}`);
  throw new CommandError(EXIT.failed, `${found.length} schedules are named ${named}. Use an id:\n${ids.join('\n')}`);
}

export function timingOf({ cron, every_s, at, timezone }: Schedule): string {
  if (cron !== null) return timezone === 'UTC' ? cron : `${cron} (${timezone})`;
  return every_s === null ? `once at ${at}` : `every ${every_s} s`;
}

export function lastOf(run: ScheduleRun | null): string {
  return run === null ? '–' : `${run.status} ${run.at}`;
}

/** Why it started no job; empty: it did. */
export function reasonOf({ status, error, missed_until }: ScheduleRun): string {
  if (error !== null) return `${error.code}: ${error.message}`;
  if (missed_until !== null) return `all up to ${missed_until}`;
  return status === 'skipped' ? 'the job of the last run was unfinished' : '';
}
