/** Jobs that long polls wait for: which of them have come so far. */
import { sql, type SQL } from 'drizzle-orm';
import type { JobId, TenantId } from '../../../core/ids.ts';
import { shared } from '../../batches/shared.ts';
import { isAwaited } from '../../calls/replies.ts';
import { prepared } from '../../connection/prepared.ts';
import { columns, recordset } from '../../rows/recordset.ts';
import { fixed } from '../../rows/written-columns.ts';

/** `end`: it has ended. `waiting`: or it waits for a person or a client. */
export const WAIT_ENDS = ['end', 'waiting'] as const;

export type Watched = { tenantId: TenantId; jobId: JobId; until: (typeof WAIT_ENDS)[number] };

/** With its tenant, so that ids of other tenants do not match. */
export function watchKeyOf({ tenantId, jobId, until }: Watched): string {
  return `${tenantId}/${jobId}/${until}`;
}

const JOBS = recordset<Watched>(
  'a',
  columns({
    tenant: ['bigint', ({ tenantId }) => tenantId],
    id: ['uuid', ({ jobId }) => jobId],
    until: ['text', ({ until }) => until],
  }),
);

/** Whether a call of job `j`, which waits, is answered from outside. */
const asks = fixed(sql`(select true from tool_calls t where t.context_id = j.context_id and ${isAwaited}
  and coalesce(t.waits_for, 'answer') in ('approval', 'answer', 'outcome') limit 1)`);

const arrived = JOBS.around(
  'select a.tenant, a.id, a.until from ',
  // A subquery for each job: PostgreSQL might read the whole table for a join. A submission may have yet to become one.
  ` where coalesce((
    select j.finished_at is not null or (a.until = 'waiting' and j.status = 'waiting' and ${asks} is not null)
    from jobs j where j.tenant_id = a.tenant and j.id = a.id),
    (select s.finished_at is not null from submissions s where s.tenant_id = a.tenant and s.id = a.id), true)`,
);
const ARRIVED = prepared<{ jobs: string }>((value) => sql`/* jobs.read_arrived */ ${arrived(value('jobs'))}`);

/** Those that have come so far or do not exist: their columns `tenant`, `id` and `until`. */
export function arrivedJobs(jobs: readonly Watched[]): SQL {
  return arrived(JOBS.encodeAll(jobs));
}

/** Jobs in one statement at most. */
const SHARED = 64;

/** Whether a job has come so far or does not exist. Under load a statement asks for many jobs. */
export const hasArrived = shared<Watched, boolean>({
  async run(executor, jobs) {
    const rows = await executor.execute<{ tenant: TenantId; id: JobId; until: Watched['until'] }>(
      ARRIVED({ jobs: JOBS.encodeAll(jobs) }),
    );
    const found = new Set(rows.map(({ tenant, id, until }) => watchKeyOf({ tenantId: tenant, jobId: id, until })));
    return jobs.map((job) => found.has(watchKeyOf(job)));
  },
  most: SHARED,
});
