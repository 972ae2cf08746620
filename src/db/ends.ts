/**
 * What the end of a job leaves for others, written in the very statement that ends it: a mark that is carried out in
 * transactions of their own (see errands.ts). `j` is the job as it was.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';

/** Its end is to be told to the worker that asked for it, as soon as it has one. */
export function noticeOnceEnded(ended: SQL): SQL {
  return sql`case when ${ended} and j.parent_notice = 'wanted' then 'due' else j.parent_notice end`;
}

/**
 * What is to reach those below it. Not by `exists`, which may be planned as a look at the jobs of all contexts. Whoever
 * spawns or sends is guarded: nothing new comes below a job that has ended, or a worker that was stopped.
 */
export function cascadeOnceEnded(status: SQL, stopped: SQL): SQL {
  return sql`case
    when ${stopped} then case when ${hasChildWorkers(sql`j.worker_id`)} then 'stop' end
    when ${status} in ('cancelled', 'interrupted') then case when (
      select true from jobs k where k.parent_job_id = j.id and k.finished_at is null limit 1) is not null
      then case ${status} when 'cancelled' then 'cancel' else 'interrupt' end end
    end`;
}

/** Whether there are workers below that end with it. */
export function hasChildWorkers(workerId: SQL): SQL {
  return sql`(select true from workers w where w.parent_worker_id = ${workerId} and not w.detached limit 1) is not null`;
}

/** Of the job as it is now. */
export const hasFollowUp: SQL = sql`(j.cascade is not null or j.parent_notice = 'due') is true`;
