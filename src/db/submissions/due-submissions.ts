/** Submissions that have yet to become jobs: found by worker processes, and taken in the order of each context. */
import { sql, type SQL } from 'drizzle-orm';
import type { AllowedTenant } from '../../core/access/tenant.ts';
import type { ContextId, JobId, TenantId } from '../../core/ids.ts';
import type { Json } from '../../core/json.ts';
import type { SubmissionError } from '../../core/submissions/submission.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { dueNow, nowInStatement } from '../connection/instant.ts';
import { atMost, isExactly } from '../rows/by-index.ts';
import { isActive } from '../write/tenants/tenants.ts';

/** A context with submissions, which may not exist yet. `mostBytes`: of the largest body that may be read now. */
export type DueSubmissions = AllowedTenant & { contextId: ContextId; tenantName: string; mostBytes: number };

/**
 * Contexts of active tenants with submissions, of at most `most` submissions: one of each tenant before the second of
 * any, and the oldest of each tenant. Which tenants come first is random, because several processes look at once. It
 * reads one index entry for each tenant with submissions, and those of the chosen tenants that it ranks. A context with
 * one that was postponed waits for it.
 */
export async function contextsWithSubmissions(executor: Executor, most: number): Promise<DueSubmissions[]> {
  const rows = await executor.execute<DueSubmissions>(sql`/* submissions.find_due */
    with recursive tenant(id) as (
      -- In the whole order of the index of those that are queued: the one of all statuses begins with the tenant, too.
      (select s.tenant_id from submissions s where s.status = 'queued' order by s.tenant_id, s.position limit 1)
      union all
      select (select s.tenant_id from submissions s
        where s.status = 'queued' and s.tenant_id > tenant.id order by s.tenant_id, s.position limit 1)
      from tenant where tenant.id is not null
    ), chosen as materialized (
      select t.id from tenant join tenants t on t.id = tenant.id and t.status = 'active' order by random() limit ${most}
    ), due as materialized (
      select f.tenant_id, f.target_context_id, f.bytes, f.turn from chosen cross join lateral (
        select o.*, row_number() over (order by o.position) as turn from (
          select s.tenant_id, s.target_context_id, s.bytes, s.position from submissions s
          where ${isExactly(sql`s.tenant_id`, sql`chosen.id`)} and s.status = 'queued'
            and (s.tenant_id, s.target_context_id) not in (select p.tenant_id, p.target_context_id from submissions p
              where p.status = 'queued' and p.retry_at > ${nowInStatement})
          order by s.tenant_id, s.position limit ${atMost(most)}
        ) o
      ) f
      order by f.turn, random() limit ${most}
    )
    select d.tenant_id as "tenantId", d.target_context_id as "contextId", t.name as "tenantName", t.allow, t.limits,
      d.bytes as "mostBytes"
    from (
      select due.tenant_id, due.target_context_id, min(due.turn) as turn, max(due.bytes) as bytes from due
      group by due.tenant_id, due.target_context_id
    ) d
    join tenants t on t.id = d.tenant_id
    order by d.turn`);
  return rows.map(({ tenantId, tenantName, contextId, allow, limits, mostBytes }) => ({
    tenantId,
    tenantName,
    contextId,
    allow,
    limits,
    mostBytes,
  }));
}

export type QueuedSubmission = { id: JobId; body: Json };

/** Of the submissions of a context that are read together, beside the first one, in bytes. */
export const TOGETHER_BYTES = 2 * 1024 * 1024;

/** The first submissions of a context, at most `most`: one of any size, and more only as far as all are small together. */
export async function firstSubmissions(
  executor: Executor,
  { tenantId, contextId }: DueSubmissions,
  most: number,
): Promise<QueuedSubmission[]> {
  return executor.execute<QueuedSubmission>(sql`
    select s.id, s.body from (
      select f.*, sum(f.bytes) over (order by f.position) as total from (
        select s.id, s.position, s.bytes, s.body from submissions s
        where s.target_context_id = ${contextId} and s.tenant_id = ${tenantId} and s.status = 'queued'
        order by s.position limit ${most}
      ) f
    ) s
    where s.total = s.bytes or s.total <= ${TOGETHER_BYTES} order by s.position`);
}

/** An arbitrary lock number that is used only here. */
const LOCKS = 7_227_004;

/**
 * Locks the first `most` submissions of a context until the end of the transaction, and returns them in their order. One
 * that another statement has locked, such as a cancel, is missing. Empty: another process has them, or the tenant is not
 * active.
 */
export async function takeSubmissions(
  tx: Executor,
  { tenantId, contextId }: DueSubmissions,
  most: number,
): Promise<JobId[]> {
  // Then a statement of its own, which sees what the last owner of the lock has done.
  const [lock] = await tx.execute<{ isFree: boolean }>(sql`/* submissions.lock */
    select pg_try_advisory_xact_lock(${LOCKS}::int, hashtext(${`${tenantId}/${contextId}`}::text)) as "isFree"`);
  if (lock?.isFree !== true) return [];
  const rows = await tx.execute<{ id: JobId }>(sql`/* submissions.take */
    with taken as materialized (
      select s.id, s.position from submissions s
      where s.target_context_id = ${contextId} and s.tenant_id = ${tenantId} and s.status = 'queued'
        and ${isActive(sql`s.tenant_id`)}
      order by s.position limit ${most} for update of s skip locked
    )
    select id from taken order by position`);
  return rows.map(({ id }) => id);
}

/** Whether the tenant has the job already: the service has submitted it twice. */
export async function isJob(tx: Executor, tenantId: TenantId, id: JobId): Promise<boolean> {
  const rows = await tx.execute(sql`select 1 from jobs j where j.id = ${id} and j.tenant_id = ${tenantId}`);
  return rows.length > 0;
}

/** Its job is inserted by the same transaction. */
export async function removeSubmission(tx: Executor, id: JobId): Promise<void> {
  await tx.execute(sql`/* submissions.remove */ delete from submissions s where s.id = ${id}`);
}

/** Of the submission `s`, what clients see of it as a job. Its content goes when it ends. */
export const WITHOUT_CONTENT: SQL = sql`json_build_object('message_id', s.body -> 'message_id', 'name', s.body -> 'name', 'role', s.body -> 'role',
  'config', json_build_object('model', s.body -> 'config' -> 'model'), 'input', json_build_object(
  'user', s.body -> 'input' -> 'user', 'branch', s.body -> 'input' -> 'branch', 'metadata', s.body -> 'input' -> 'metadata'))`;

/** It becomes no job. */
export async function failSubmission(executor: Executor, id: JobId, error: SubmissionError): Promise<void> {
  await executor.execute(sql`/* submissions.fail */
    update submissions s set status = 'failed', error = ${encodeJson(error)}::jsonb, finished_at = ${dueNow},
      body = ${WITHOUT_CONTENT}
    where s.id = ${id} and s.status = 'queued'`);
}

/** The first one of the context is tried again later, and those behind it wait for it. Others are not held up. */
export async function postponeSubmissions(
  executor: Executor,
  { tenantId, contextId }: DueSubmissions,
  byMs: number,
): Promise<void> {
  await executor.execute(sql`/* submissions.postpone */
    update submissions s set retry_at = ${nowInStatement} + ${byMs}::float8 * interval '1 millisecond'
    where s.status = 'queued' and s.id = (select f.id from submissions f
      where f.target_context_id = ${contextId} and f.tenant_id = ${tenantId} and f.status = 'queued'
      order by f.position limit 1)`);
}

/** How long a submission that became no job can be read, in days. */
const KEPT_DAYS = 30;

/**
 * Deletes submissions that became no job long ago, and those of deleted tenants: their transaction may have committed
 * after the deletion. Returns how many, at most `most` of each.
 */
export async function forgetSubmissions(executor: Executor, most: number): Promise<number> {
  const rows = await executor.execute(sql`/* submissions.forget */
    with recursive tenant(id) as (
      (select s.tenant_id from submissions s order by s.tenant_id limit 1)
      union all
      select (select s.tenant_id from submissions s where s.tenant_id > tenant.id order by s.tenant_id limit 1)
      from tenant where tenant.id is not null
    ), gone as materialized (
      select tenant.id from tenant where not exists (select 1 from tenants t where t.id = tenant.id)
    ), old as materialized (
      select s.id from submissions s where s.finished_at < ${nowInStatement} - ${KEPT_DAYS}::int * interval '1 day'
      order by s.finished_at limit ${most} for update skip locked
    ), left_over as materialized (
      select s.id from gone join submissions s on s.tenant_id = gone.id limit ${most} for update of s skip locked
    )
    delete from submissions d using (select id from old union select id from left_over) f where d.id = f.id
    returning 1`);
  return rows.length;
}
