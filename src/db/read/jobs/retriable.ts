/** What decides whether jobs can be retried. Each job costs a few reads by index, however long its context is. */
import { sql, type SQL } from 'drizzle-orm';
import type { JobId, TenantId } from '../../../core/ids.ts';
import { WHOLE_TENANT, type Reach } from '../../../core/access/reach.ts';
import type { RetryFacts } from '../../../core/run/retriable.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { isRead } from '../../write/contexts/branches.ts';
import { isWithin } from '../reach.ts';
import { findJobs, startOf, type JobOrder } from './find-jobs.ts';
import { conditionsOfPart, type JobFilter } from './job-filter.ts';

/** The facts of those of these jobs that the tenant has, within reach, in no order. */
export async function factsOfJobs(
  executor: Executor,
  tenantId: TenantId,
  ids: readonly JobId[],
  reach: Reach = WHOLE_TENANT,
): Promise<RetryFacts[]> {
  const within = isWithin(reach).map(
    (condition) => sql`and exists (select 1 from workers w where w.id = j.worker_id and ${condition})`,
  );
  // The limit keeps PostgreSQL from planning for many jobs: it would read the whole table.
  return executor.execute<RetryFacts>(sql`/* jobs.retry_facts */
    select f.* from jsonb_array_elements_text(${encodeJson(ids)}::jsonb) g(id) cross join lateral (
      ${facts} where j.id = g.id::uuid and j.tenant_id = ${tenantId} ${sql.join(within, sql` `)} limit 1) f`);
}

/** `after`: the last job of the page before; null: it is the first one. */
type Choice = { filter: JobFilter; q: string | null; after: JobId | null; limit: number };

/** The jobs that match, newest first. `upto`: the last job that was looked at, if more may match; else null. */
export async function chooseJobs(
  executor: Executor,
  tenantId: TenantId,
  { filter, q, after, limit }: Choice,
): Promise<{ ids: JobId[]; upto: JobId | null }> {
  const order: JobOrder = { by: 'created', descending: true, after };
  const found =
    q === null
      ? {
          ids: await idsOf(executor, tenantId, filter, { start: startOf(order), descending: true, limit: limit + 1 }),
          upto: null,
        }
      : await findIds(executor, tenantId, { filter, q, order, limit: limit + 1 });
  const ids = found.ids.slice(0, limit);
  return { ids, upto: found.ids.length > limit ? (ids.at(-1) ?? null) : found.upto };
}

async function idsOf(...[executor, tenantId, filter, part]: Parameters<typeof conditionsOfPart>): Promise<JobId[]> {
  const of = sql.join(conditionsOfPart(executor, tenantId, filter, part), sql` and `);
  const rows = await executor.execute<{ id: JobId }>(sql`/* jobs.list_ids */
    select j.id from jobs j where ${of} order by j.id desc limit ${part.limit}`);
  return rows.map(({ id }) => id);
}

async function findIds(...found: Parameters<typeof findJobs>): Promise<{ ids: JobId[]; upto: JobId | null }> {
  const { jobs, upto } = await findJobs(...found);
  return { ids: jobs.map(({ id }) => id), upto };
}

/**
 * Whether `x` is a later job than `j`: it began after it, in whatever order they were posted. Of a retry that was withdrawn
 * before it began: `x` began after it was posted.
 */
const IS_LATER = sql`x.id <> j.id and case when j.first_seq is null then x.started_at > j.created_at
  else x.first_seq > j.first_seq end`;

/**
 * The last job that began on the branch has added the last message of it, or is a retry: that may have added none. So the
 * history is not read, however many jobs have run since.
 */
const facts: SQL = sql`
  select j.id as "jobId", j.context_id as "contextId", j.kind, j.status, j.branch, c.stopped as "isStopped",
    exists (
      select 1 from branches b left join messages m on m.id = j.message_id
      where b.context_id = j.context_id and b.name = j.branch
        and case when j.message_id is null then j.first_seq is null or ${isRead(sql`j.branch`, sql`j.first_seq`)}
          else m.status = 'completed' and ${isRead(sql`m.branch`, sql`m.seq`)} end
    ) as "isInHistory",
    exists (
      select 1 from jobs x where x.context_id = j.context_id and x.status in ('running', 'waiting') and x.branch = j.branch
      union all
      select 1 from jobs x where x.context_id = j.context_id and x.status = 'queued' and x.branch = j.branch
    ) as "isBusy",
    coalesce((
      select ${IS_LATER} from messages m join jobs x on x.id = m.job_id
      where m.context_id = j.context_id and m.branch = j.branch and m.seq > coalesce(j.first_seq, 0)
      order by m.seq desc limit 1
    ), false) or coalesce((
      select ${IS_LATER} from jobs x
      where x.context_id = j.context_id and x.branch = j.branch and x.kind = 'retry' and x.first_seq is not null
      order by x.first_seq desc limit 1
    ), false) as "isSuperseded"
  from jobs j join contexts c on c.id = j.context_id`;
