/** Branches as the API returns them. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, MessageId, TenantId } from '../../../core/ids.ts';
import type { Millis } from '../../../core/time.ts';
import type { Turn } from '../../../core/conversation/turn.ts';
import type { Usage } from '../../../core/money/usage.ts';
import { isRead } from '../../write/contexts/branches.ts';
import type { Executor } from '../../connection/client.ts';
import { millis, toTimestamp } from '../../connection/instant.ts';
import { spansOf, stretches } from '../../run/spans.ts';
import { usageObject } from '../../model-calls/usage.ts';

export type BranchView = {
  name: string;
  isActive: boolean;
  parent: string | null;
  /** The last message shared with its parent; null: none. */
  forkMessageId: MessageId | null;
  forkSeq: number | null;
  /** Visible messages of the branch, shared ones included. Null: not counted. */
  length: number | null;
  /** Counts the jobs that ended on this branch; so do `requestCount` and `usage`. */
  messageCount: number;
  requestCount: number;
  usage: Usage;
  createdAt: Millis;
};

/** The cursor behind a page of branches, which are ordered oldest first. */
export type BranchPlace = { createdAt: Millis; name: string };

/** For a branch `b` of the context `c`. */
const columns: SQL = sql`b.name, b.name = c.active_branch as "isActive", b.parent_name as parent, b.fork_seq as "forkSeq",
  (select m.id from messages m where m.context_id = c.id and m.seq = b.fork_seq) as "forkMessageId",
  b.message_count as "messageCount", b.request_count as "requestCount", ${usageObject('b')} as usage,
  ${millis(sql`b.created_at`)} as "createdAt"`;

/** Leaves `length` null, because the caller holds the context's row lock. Null: no such branch. */
export async function findBranchView(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  name: string,
): Promise<BranchView | null> {
  const [row] = await executor.execute<BranchView>(sql`
    select ${columns}, null as length from contexts c join branches b on b.context_id = c.id and b.tenant_id = c.tenant_id
    where c.id = ${contextId} and c.tenant_id = ${tenantId} and b.name = ${name}`);
  return row ?? null;
}

/** At most `limit` branches after `after`. Null: the tenant has no such context. */
export async function listBranches(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  { after, limit }: { after: BranchPlace | null; limit: number },
): Promise<BranchView[] | null> {
  const later =
    after === null
      ? sql``
      : sql`where (b.created_at, b.name) > (${toTimestamp(after.createdAt)}::timestamptz, ${after.name})`;
  const rows = await executor.execute<BranchView | { name: null }>(sql`/* branches.list */
    with context as (
      select c.id, c.tenant_id, c.active_branch from contexts c where c.id = ${contextId} and c.tenant_id = ${tenantId}
    ), page as (
      select b.* from context c join branches b on b.context_id = c.id and b.tenant_id = c.tenant_id ${later}
      order by b.created_at, b.name limit ${limit}
    ), stretch as (
      select b.name, s.branch, s.after, coalesce(s.upto, 9223372036854775807) as upto
      from page b cross join lateral ${stretches(sql`b`)}
    ), cut as (
      select branch, after as at from stretch union select branch, upto from stretch
    ), piece as materialized (
      -- Messages shared by several branches are counted once: per piece between two cut points of any branch.
      select p.branch, p.after, p.upto, n.count from (
        select branch, lag(at) over (partition by branch order by at) as after, at as upto from cut) p
      cross join lateral (
        select count(*) from context c join messages m on m.context_id = c.id and m.tenant_id = c.tenant_id
        where m.branch = p.branch and m.seq > p.after and m.seq <= p.upto and m.status = 'completed') n
      where p.after is not null
    )
    select ${columns},
      (select coalesce(sum(p.count), 0)::int from stretch s join piece p on p.branch = s.branch
        and p.after >= s.after and p.upto <= s.upto where s.name = b.name) as length
    from context c left join page b on true order by b.created_at, b.name`);
  if (rows.length === 0) return null;
  return rows.flatMap((row) => (row.name === null ? [] : [row]));
}

export type Sibling = {
  branch: string;
  messageId: MessageId;
  turn: Turn;
  createdAt: Millis;
  /** The active branch reads it. */
  isActive: boolean;
};

/**
 * The alternatives to a message across the branches of its context: the first message of its turn, and the messages
 * that other branches have in its place, oldest first. Empty: no branch reads the message.
 */
export async function listSiblings(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  messageId: MessageId,
): Promise<Sibling[]> {
  const spans = (branch: SQL) => spansOf(sql`c.id`, sql`c.tenant_id`, branch);
  const visible = sql`m.context_id = c.id and m.tenant_id = c.tenant_id and m.branch = s.branch and m.seq > s.after
    and m.seq <= s.upto and m.status = 'completed'`;
  return executor.execute<Sibling>(sql`/* branches.list_siblings */
    with it as (
      select m.context_id, m.branch, m.seq, m.role from messages m
      where m.tenant_id = ${tenantId} and m.context_id = ${contextId} and m.id = ${messageId} and m.status = 'completed'
    ), line as (
      select b.name from it join contexts c on c.id = it.context_id join branches b on b.context_id = c.id
      where ${isRead(sql`it.branch`, sql`it.seq`)}
      order by b.name = c.active_branch desc, b.name = it.branch desc, b.created_at, b.name limit 1
    ), before as (
      -- The message before its turn: for an input the message before it, for an answer the input.
      select m.branch, m.seq from line cross join it join contexts c on c.id = it.context_id
      cross join lateral (${spans(sql`line.name`)}) s
      cross join lateral (
        select m.branch, m.seq from messages m where ${visible} and m.seq < it.seq
          and case when it.role = 'user' then m.role <> 'system' else m.role = 'user' end
        order by m.seq desc limit 1) m
      order by m.seq desc limit 1
    ), shown as (
      select distinct on (m.id) b.name as branch, m.id, m.turn, m.created_at, m.seq, b.name = c.active_branch as active
      from line cross join contexts c join branches b on b.context_id = c.id left join before on true
      cross join lateral (
        select m.* from (${spans(sql`b.name`)}) s cross join lateral (
          select m.id, m.branch, m.turn, m.created_at, m.seq from messages m
          where ${visible} and m.seq > coalesce(before.seq, 0) and m.role <> 'system' order by m.seq limit 1) m
        order by m.seq limit 1) m
      where c.id = ${contextId} and c.tenant_id = ${tenantId}
        and (before.seq is null or ${isRead(sql`before.branch`, sql`before.seq`)})
      order by m.id, b.name = c.active_branch desc, b.name = m.branch desc, b.created_at, b.name
    )
    select branch, id as "messageId", turn, ${millis(sql`created_at`)} as "createdAt", active as "isActive"
    from shown order by seq`);
}
