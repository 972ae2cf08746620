/** The calls of a job, wherever they are stored. */
import { sql, type SQL } from 'drizzle-orm';
import { endedCall, storedCall } from '../schema/calls.ts';

/**
 * The rows of `calls` that belong to a job: two index scans, in the range of the job's numbers. `job`: the name of a row
 * with `(id, context_id, branch, first_seq)`. `last`: the last number of the job, or of its context.
 */
export function callsOfJob(job: SQL, last: SQL): SQL {
  return sql`(
    select ${storedCall} from tool_calls t where t.context_id = ${job}.context_id and t.job_id = ${job}.id
    union all
    select ${endedCall} from messages m where m.context_id = ${job}.context_id and m.branch = ${job}.branch
      and m.seq > ${job}.first_seq and m.seq <= ${last} and m.job_id = ${job}.id and m.call is not null)`;
}
