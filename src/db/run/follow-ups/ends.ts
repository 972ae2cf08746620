/**
 * Follow-ups that the end of a job leaves, written by the statement that ends it. Later transactions carry them out
 * (see follow-ups.ts). `j` is the job's row before the update.
 */
import { sql, type SQL } from 'drizzle-orm';

/** A parent notice becomes due when the job ends. */
export function noticeOnceEnded(ended: SQL): SQL {
  return sql`case when ${ended} and j.parent_notice = 'wanted' then 'due' else j.parent_notice end`;
}

/**
 * The stop request that cascades to the job's children. It does not use `exists`, which may be planned as a scan of the
 * jobs of all contexts. Spawning and sending are guarded, so no child is added below an ended job or a stopped worker.
 */
export function cascadeOnceEnded(status: SQL, stopped: SQL): SQL {
  return sql`case
    when ${stopped} then case when ${hasChildWorkers(sql`j.worker_id`)} then 'stop' end
    when ${status} in ('cancelled', 'interrupted') then case when (
      select true from jobs k where k.parent_job_id = j.id and k.finished_at is null limit 1) is not null
      then case ${status} when 'cancelled' then 'cancel' else 'interrupt' end end
    end`;
}

/** Whether the worker has attached child workers, which end with it. */
export function hasChildWorkers(workerId: SQL): SQL {
  return sql`(select true from workers w where w.parent_worker_id = ${workerId} and not w.detached limit 1) is not null`;
}

/** Reads the job's row after the update. */
export const hasFollowUp: SQL = sql`(j.cascade is not null or j.parent_notice = 'due') is true`;
