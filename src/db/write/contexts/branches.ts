/**
 * Branches: the spans of the context's messages that each reads, and how branches are created, activated and deleted.
 * The writer locks the context's row first. A branch event gets a sequence number like every other event.
 */
import { sql, type SQL } from 'drizzle-orm';
import { whole, type Span } from '../../../core/conversation/branch.ts';
import type { ContextEvent } from '../../../core/stream/event.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { recordEvent } from '../../run/events.ts';
import type { Place } from '../../run/places.ts';
import { readLastTurn } from '../../run/history.ts';
import { lastTurnOf } from '../../../core/conversation/message.ts';

/** A branch and the spans that it reads. */
export type Branch = { name: string; spans: Span[] };

/**
 * Locks a context's row until the transaction ends. Call it before reading the context's branches. False: no such
 * context.
 */
export async function lockContext(tx: Executor, { tenantId, contextId }: Place): Promise<boolean> {
  const rows = await tx.execute(sql`/* contexts.lock_for_branches */
    select id from contexts where id = ${contextId} and tenant_id = ${tenantId} for no key update`);
  return rows.length > 0;
}

/** Null: no such branch. */
export async function findBranch(
  executor: Executor,
  { tenantId, contextId }: Place,
  name: string,
): Promise<Branch | null> {
  const [row] = await executor.execute<{ spans: Span[] | null }>(sql`
    select spans from branches where context_id = ${contextId} and tenant_id = ${tenantId} and name = ${name}`);
  return row === undefined ? null : { name, spans: row.spans ?? whole(name) };
}

export async function branchNames(executor: Executor, { tenantId, contextId }: Place): Promise<ReadonlySet<string>> {
  const rows = await executor.execute<{ name: string }>(
    sql`select name from branches where context_id = ${contextId} and tenant_id = ${tenantId}`,
  );
  return new Set(rows.map(({ name }) => name));
}

/** Of the branches that read a message: the active one, else the one it was added to, else the oldest. Null: none. */
export async function branchReading(
  executor: Executor,
  { tenantId, contextId }: Place,
  { branch, seq }: { branch: string; seq: number },
): Promise<Branch | null> {
  const [row] = await executor.execute<{ name: string; spans: Span[] | null }>(sql`
    select b.name, b.spans from contexts c join branches b on b.context_id = c.id
    where c.id = ${contextId} and c.tenant_id = ${tenantId} and ${isRead(sql`${branch}::text`, sql`${seq}::bigint`)}
    order by b.name = c.active_branch desc, b.name = ${branch} desc, b.created_at, b.name limit 1`);
  return row === undefined ? null : { name: row.name, spans: row.spans ?? whole(row.name) };
}

/** Whether `b` reads the message with number `seq` that was added to `branch`. */
export function isRead(branch: SQL, seq: SQL): SQL {
  return sql`case when b.spans is null then b.name = ${branch} else exists (
    select 1 from jsonb_to_recordset(b.spans) as r(branch text, after bigint, upto bigint)
    where r.branch = ${branch} and ${seq} > r.after and (r.upto is null or ${seq} <= r.upto)) end`;
}

type NewBranch = { name: string; parent: string; forkSeq: number; spans: readonly Span[] };

/** Returns the context's new `head_seq`. */
export async function insertBranch(tx: Executor, place: Place, branch: NewBranch): Promise<number> {
  const { tenantId, contextId } = place;
  const { name, parent, forkSeq, spans } = branch;
  await tx.execute(sql`/* branches.insert */
    insert into branches (context_id, tenant_id, name, parent_name, fork_seq, spans, created_at)
    values (${contextId}, ${tenantId}, ${name}, ${parent}, ${forkSeq}, ${encodeJson(spans)}::jsonb, clock_timestamp())`);
  return announce(tx, place, { name: 'BranchCreated', data: { branch: name, parent, fork_seq: forkSeq } });
}

/** Inputs that name no branch now go to this one. Returns the context's new `head_seq`. */
export async function activateBranch(tx: Executor, place: Place, name: string): Promise<number> {
  const { tenantId, contextId } = place;
  const turns = lastTurnOf(await readLastTurn(tx, place, name));
  await tx.execute(sql`/* branches.activate */
    update contexts set active_branch = ${name}, turn_count = ${turns}
    where id = ${contextId} and tenant_id = ${tenantId}`);
  return announce(tx, place, { name: 'BranchSwitched', data: { branch: name } });
}

/** Keeps its messages, because other branches may share them. Signals the lease owner. Returns the new `head_seq`. */
export async function deleteBranch(tx: Executor, place: Place, name: string): Promise<number> {
  const { tenantId, contextId } = place;
  await tx.execute(sql`/* branches.delete */
    with gone as (
      delete from branches where context_id = ${contextId} and tenant_id = ${tenantId} and name = ${name}
      returning context_id
    )
    update contexts c set control_seq = c.control_seq + 1 from gone where c.id = gone.context_id`);
  return announce(tx, place, { name: 'BranchDeleted', data: { branch: name } });
}

async function announce(tx: Executor, { tenantId, contextId }: Place, event: ContextEvent): Promise<number> {
  const [row] = await tx.execute<{ head_seq: number }>(sql`/* branches.record_event */
    with ctx as (
      update contexts c set head_seq = c.head_seq + 1 where c.id = ${contextId} and c.tenant_id = ${tenantId}
      returning c.id, c.tenant_id, c.head_seq, c.lease_epoch
    ), recorded as (
      ${recordEvent(event)}
    )
    select head_seq from ctx`);
  if (row === undefined) throw new Error(`The locked context ${contextId} no longer exists.`);
  return row.head_seq;
}

/** Whether this branch has an unfinished job. */
export async function isBusy(tx: Executor, { tenantId, contextId }: Place, name: string): Promise<boolean> {
  const rows = await tx.execute(sql`
    select id from jobs where context_id = ${contextId} and tenant_id = ${tenantId} and branch = ${name}
      and status in ('running', 'waiting')
    union all
    select id from jobs where context_id = ${contextId} and tenant_id = ${tenantId} and branch = ${name}
      and status = 'queued'
    union all
    select id from jobs where context_id = ${contextId} and tenant_id = ${tenantId} and branch = ${name}
      and status = 'delayed' limit 1`);
  return rows.length > 0;
}
