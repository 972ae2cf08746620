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
import { nowInStatement } from '../connection/instant.ts';
import { columns, recordset } from '../rows/recordset.ts';
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
  /** Only what was asked for at once is sent. */
  isOnHold: boolean;
};

export type LeaseRequest = {
  owner: ProcessId;
  most: number;
  /** Webhooks of one tenant, with those that this process sends to already. */
  perTenant: number;
  sending: readonly Sending[];
};

/** How many webhooks of a tenant this process sends to now. */
export type Sending = { tenantId: TenantId; count: number };

const SENDING = recordset<Sending>(
  's',
  columns({ tenant_id: ['bigint', ({ tenantId }) => tenantId], count: ['int', ({ count }) => count] }),
);

/** Leases due webhooks, those of the tenants in turn. */
export async function leaseDue(
  executor: Executor,
  { owner, most, perTenant, sending }: LeaseRequest,
): Promise<Leased[]> {
  return executor.execute<Leased>(sql`/* webhooks.lease */
    with ranked as materialized (
      select w.id, w.tenant_id, row_number() over (partition by w.tenant_id order by w.due_at, w.id) as place
      from webhooks w
      where w.due_at <= ${nowInStatement} and ${IS_FREE} and ${isActive(sql`w.tenant_id`)}
    ), free as materialized (
      select w.id from ranked r join webhooks w on w.id = r.id
      left join ${SENDING.table(sending)} on s.tenant_id = r.tenant_id
      where r.place <= ${perTenant}::int - coalesce(s.count, 0) and w.status = 'active'
        and w.due_at <= ${nowInStatement} and ${IS_FREE}
      order by r.place, w.due_at limit ${most}
      for no key update of w skip locked
    )
    update webhooks w set lease_owner = ${owner}, lease_until = clock_timestamp() + ${LEASE}
    from free where w.id = free.id
    returning w.id, w.tenant_id as "tenantId", w.url, w.failures,
      coalesce(w.held_until > ${nowInStatement}, false) as "isOnHold", array_to_json(array_remove(array[w.secret,
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

/** The next deliveries of a webhook, at most one of a job: first what was asked for at once, then the earliest. */
export async function dueDeliveries(executor: Executor, { id, failures, isOnHold }: Leased): Promise<DueDelivery[]> {
  const most = parallelOf(failures);
  const rows = await executor.execute<DueDelivery>(sql`
    select d.id, d.job_id as "jobId", d.type, d.body, d.attempts from (
      (select *, 1 as turn from webhook_deliveries o where o.webhook_id = ${id} and o.at_once
        order by o.next_attempt_at limit ${most})
      union all
      (select *, 2 as turn from webhook_deliveries o
        where o.webhook_id = ${id} and o.status = 'pending' and o.next_attempt_at <= ${nowInStatement}
          and not o.at_once and not ${isOnHold}::boolean
        order by o.next_attempt_at, o.seq limit ${most * LOOKED_AT})
    ) d order by d.turn, d.next_attempt_at, d.seq`);
  const jobs = new Set<JobId>();
  const first = rows.filter(({ jobId }) => {
    if (jobId === null) return true;
    const isFirst = !jobs.has(jobId);
    jobs.add(jobId);
    return isFirst;
  });
  return first.slice(0, most);
}
