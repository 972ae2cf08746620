/** What keeps queued jobs of a list from running. One statement for a page; each job costs a few reads by index. */
import { sql, type SQL } from 'drizzle-orm';
import type { JobId, TenantId } from '../../../core/ids.ts';
import type { WorkerConfig } from '../../../core/workers/settings.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { isDead, type LeaseTimes } from '../../processes/processes.ts';
import { runningContexts } from '../../processes/slots.ts';

/** Of a config or role: only the names that a worker process must serve. */
type NamesOf = Pick<WorkerConfig, 'model' | 'tools' | 'mcp_servers'>;

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
  role: string | null;
  /** The definition of a role that was created through the API. */
  definition: NamesOf | null;
  config: NamesOf;
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
      select j.id, c.stopped, w.role, ${namesOf(sql`w.config`)} as config,
        case when r.name is not null then ${namesOf(sql`r.definition`)} end as definition,
        (select a.status from jobs a where a.context_id = j.context_id and a.status in ('running', 'waiting')) as active,
        j.id <> (select n.id from jobs n where n.context_id = j.context_id and n.status = 'queued'
          order by n.priority, n.position, n.id limit 1) as "isBehind"
      from jobs j join contexts c on c.id = j.context_id join workers w on w.id = j.worker_id
      left join roles r on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version
      where j.id = g.id::uuid and j.tenant_id = ${tenantId} and j.status = 'queued' limit 1) f`);
}

/** Prompts and schemas, which may be large, are not read for each job. */
function namesOf(config: SQL): SQL {
  const member = (name: string) => sql.raw(`'${name}', `);
  const given = ['model', 'tools', 'mcp_servers'].map((name) => sql`${member(name)}${config} -> '${sql.raw(name)}'`);
  return sql`jsonb_strip_nulls(jsonb_build_object(${sql.join(given, sql`, `)}))`;
}
