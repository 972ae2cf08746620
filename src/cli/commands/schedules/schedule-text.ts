/** Texts about schedules, and how one is found. */
import type { Client, Schedule, ScheduleRun } from '../../../client/index.ts';
import { CommandError, EXIT } from '../../exit.ts';
import { isId, isPartOfId, hasPart } from '../../find/ids.ts';
import { PAGE, SEARCHED, ambiguous } from '../../find/pick.ts';
import { first } from '../../list.ts';
import { oneLine } from '../../terminal/safe.ts';

/** By id, by a part of it, or by name. Throws, listing the ids, if several have the name or the part. */
export async function findSchedule(client: Client, named: string): Promise<Schedule> {
  if (isId(named)) return client.schedules.get(named);
  const found = (await withPart(client, named)) ?? (await withName(client, named));
  const [only, ...others] = found;
  if (only === undefined)
    throw new CommandError(EXIT.failed, `No schedule is named ${named}. Run nightshift schedules to list them.`);
  if (others.length === 0) return only;
  if (found.some(({ name }) => name !== named))
    throw ambiguous(
      named,
      found.map(({ id, name }) => ({ id, about: `schedule ${oneLine(name)}` })),
    );
  const ids = found.map(({ id, created_at }) => `  ${id}  created ${created_at}`);
  throw new CommandError(EXIT.failed, `${found.length} schedules are named ${named}. Use an id:\n${ids.join('\n')}`);
}

/** Those whose id has this part, or which have this name, among the newest. Null: none, or the text is no part of an id. */
async function withPart(client: Client, named: string): Promise<Schedule[] | null> {
  if (!isPartOfId(named)) return null;
  const newest = await first(client.schedules.list({ limit: PAGE }), SEARCHED);
  const found = newest.filter(({ id, name }) => hasPart(id, named) || name === named);
  return found.length === 0 ? null : found;
}

async function withName(client: Client, named: string): Promise<Schedule[]> {
  const all = await client.schedules.list({ limit: PAGE }).all();
  return all.filter(({ name }) => name === named);
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
