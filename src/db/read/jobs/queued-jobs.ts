/** What keeps queued jobs of a list from running. One statement for a page; each job costs a few reads by index. */
import { sql } from 'drizzle-orm';
import type { JobId, TenantId } from '../../../core/ids.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { isDead, type LeaseTimes } from '../../processes/processes.ts';
import { runningContexts } from '../../processes/slots.ts';

export type QueuedJob = {
  id: JobId;
  /** Its worker is stopped. */
  stopped: boolean;
  /** Of the job of its context that is running or waiting; null: there is none. */
  active: 'running' | 'waiting' | null;
  /** Another job of its context is queued before it. */
  isBehind: boolean;
  /** A worker process is alive. */
  live: boolean;
  /** Any of them begins runs. */
  isServed: boolean;
  /** Contexts of the tenant that run; null: its slots are not limited. */
  slotsTaken: number | null;
};

/** In no order; without those that are no longer queued. */
export async function findQueuedJobs(
  executor: Executor,
  tenantId: TenantId,
  ids: readonly JobId[],
  { times, areSlotsLimited }: { times: LeaseTimes; areSlotsLimited: boolean },
): Promise<QueuedJob[]> {
  // The limit keeps PostgreSQL from planning for many jobs: it would read the whole table.
  return executor.execute<QueuedJob>(sql`/* jobs.find_queued */
    select f.*, live.live, live."isServed", slots.taken as "slotsTaken" from jsonb_array_elements_text(${encodeJson(ids)}::jsonb) g(id)
    cross join (
      select exists (select 1 from processes p where not ${isDead(times)}) as live,
        exists (select 1 from processes p where not ${isDead(times)} and p.status = 'running') as "isServed") live
    cross join (select case when ${areSlotsLimited}::boolean
      then (select ${runningContexts} from (select ${tenantId}::bigint as id) t) end as taken) slots
    cross join lateral (
      select j.id, c.stopped,
        (select a.status from jobs a where a.context_id = j.context_id and a.status in ('running', 'waiting')) as active,
        j.id <> (select n.id from jobs n where n.context_id = j.context_id and n.status = 'queued'
          order by n.priority, n.position, n.id limit 1) as "isBehind"
      from jobs j join contexts c on c.id = j.context_id
      where j.id = g.id::uuid and j.tenant_id = ${tenantId} and j.status = 'queued' limit 1) f`);
}
