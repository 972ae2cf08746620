/**
 * Submissions that are relayed from the outbox of a service. What the function `nightshift_submit_v1` does for a role of
 * this database is done here for worker processes, without errors that would end the transaction.
 */
import { sql } from 'drizzle-orm';
import type { TenantId } from '../../core/ids.ts';
import type { SubmissionPlace } from '../../core/submissions/outbox.ts';
import type { Executor } from '../connection/client.ts';
import { isActive } from '../write/tenants/tenants.ts';

/** Those of the tenants that are not active now. Their rows wait. */
export async function inactiveAmong(executor: Executor, tenants: readonly string[]): Promise<string[]> {
  const rows = await executor.execute<{ name: string }>(sql`
    select t.name from tenants t where t.name in ${[...tenants]} and t.status <> 'active'`);
  return rows.map(({ name }) => name);
}

/** `known`: it has been submitted before. `inactive`: its tenant is not active any more. */
export type RelayOutcome = 'added' | 'known' | 'inactive' | 'no_context' | 'taken';

/** `submission`: the JSON text, as the service has encoded it. */
export async function addRelayed(
  tx: Executor,
  tenantId: TenantId,
  { jobId, contextId, creates }: SubmissionPlace,
  submission: string,
): Promise<RelayOutcome> {
  const [row] = await tx.execute<{ outcome: RelayOutcome }>(sql`/* submissions.relay */
    with owner as materialized (
      select p.id, p.user_name from (
        select ${creates?.workerId ?? null}::uuid as id, ${creates?.user ?? null}::text as user_name
          where ${creates !== null}::boolean
        union all
        select w.id, w.user_name from workers w
          where not ${creates !== null}::boolean and w.context_id = ${contextId} and w.tenant_id = ${tenantId}
        union all
        select s.worker_id, s.user_name from submissions s
          where not ${creates !== null}::boolean and s.target_context_id = ${contextId} and s.tenant_id = ${tenantId}
            and s.creates_worker and s.status = 'queued'
      ) p limit 1
    ), added as (
      insert into submissions (id, tenant_id, target_context_id, worker_id, creates_worker, user_name, body, bytes)
        select ${jobId}::uuid, ${tenantId}::bigint, ${contextId}::uuid, o.id, ${creates !== null}::boolean,
          o.user_name, ${submission}::json, ${Buffer.byteLength(submission)}::int
        from owner o
        where ${isActive(tenantId)} and not exists (select 1 from jobs j where j.id = ${jobId})
      on conflict (id) do nothing returning 1
    )
    select case
      when exists (select 1 from added) then 'added'
      when not ${isActive(tenantId)} then 'inactive'
      when not exists (select 1 from owner) then 'no_context'
      when exists (
        select 1 from submissions s where s.id = ${jobId}
          and (s.tenant_id <> ${tenantId} or s.target_context_id <> ${contextId})
        union all
        select 1 from jobs j where j.id = ${jobId} and (j.tenant_id <> ${tenantId} or j.context_id <> ${contextId})
      ) then 'taken' else 'known' end as outcome`);
  if (row === undefined) throw new Error('PostgreSQL did not say what became of a relayed submission.');
  return row.outcome;
}
