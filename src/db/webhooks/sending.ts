/**
 * Which webhooks a process sends to, and how attempts went. A process leases a webhook for one batch of deliveries, so
 * that at most one process sends to it. If the process dies, another one sends the batch again: once it is declared dead,
 * or when the lease ends.
 */
import { sql } from 'drizzle-orm';
import type { DeliveryId, JobId, ProcessId, TenantId, WebhookId } from '../../core/ids.ts';
import { parallelOf } from '../../core/webhooks/backoff.ts';
import type { DeliveryType } from '../../core/webhooks/webhook.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { nowInStatement } from '../connection/instant.ts';
import { isActive } from '../write/tenants/tenants.ts';

/** Longer than an attempt and its statements take. */
const LEASE = sql`interval '30 seconds'`;

const IS_FREE = sql`(w.lease_until is null or w.lease_until <= ${nowInStatement}
        or not exists (select 1 from processes p where p.id = w.lease_owner and p.dead_at is null))`;

/** A webhook that this process sends to now. `secrets`: encrypted; all of them sign. */
export type Leased = {
  id: WebhookId;
  tenantId: TenantId;
  url: string;
  secrets: string[];
  failures: number;
};

export type LeaseRequest = {
  owner: ProcessId;
  most: number;
  /** Webhooks of one tenant. */
  perTenant: number;
  /** Tenants to which this process sends as much as it may. */
  full: readonly TenantId[];
};

/** Leases due webhooks, those of the tenants in turn. */
export async function leaseDue(executor: Executor, { owner, most, perTenant, full }: LeaseRequest): Promise<Leased[]> {
  return executor.execute<Leased>(sql`/* webhooks.lease */
    with ranked as materialized (
      select w.id, row_number() over (partition by w.tenant_id order by w.due_at, w.id) as place from webhooks w
      where w.due_at <= ${nowInStatement} and ${IS_FREE} and ${isActive(sql`w.tenant_id`)}
        and not w.tenant_id in (select i::bigint from jsonb_array_elements_text(${encodeJson(full)}::jsonb) i)
    ), free as materialized (
      select w.id from ranked r join webhooks w on w.id = r.id
      where r.place <= ${perTenant}::int and w.status = 'active'
        and ${IS_FREE}
      order by r.place, w.due_at limit ${most}
      for no key update of w skip locked
    )
    update webhooks w set lease_owner = ${owner}, lease_until = clock_timestamp() + ${LEASE}
    from free where w.id = free.id
    returning w.id, w.tenant_id as "tenantId", w.url, w.failures, array_to_json(array_remove(array[w.secret,
      case when w.old_secret_until > ${nowInStatement} then w.old_secret end], null)) as secrets`);
}

export type DueDelivery = {
  id: DeliveryId;
  jobId: JobId | null;
  type: DeliveryType;
  body: string;
  attempts: number;
};

/** How many due deliveries are looked at for each that may be sent: those of one job go one after the other. */
const LOOKED_AT = 8;

/** The next deliveries of a webhook, at most one of a job, the earliest. */
export async function dueDeliveries(executor: Executor, { id, failures }: Leased): Promise<DueDelivery[]> {
  const most = parallelOf(failures);
  const rows = await executor.execute<DueDelivery>(sql`
    select d.id, d.job_id as "jobId", d.type, d.body, d.attempts from webhook_deliveries d
    where d.webhook_id = ${id} and d.status = 'pending' and d.next_attempt_at <= ${nowInStatement}
    order by d.next_attempt_at, d.seq limit ${most * LOOKED_AT}`);
  const jobs = new Set<JobId>();
  const first = rows.filter(({ jobId }) => {
    if (jobId === null) return true;
    const isFirst = !jobs.has(jobId);
    jobs.add(jobId);
    return isFirst;
  });
  return first.slice(0, most);
}
