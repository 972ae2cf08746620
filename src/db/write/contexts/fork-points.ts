/** Finds points where a branch may be forked. Each answer takes a few index lookups, however long the branch is. */
import { sql, type SQL } from 'drizzle-orm';
import type { MessageId } from '../../../core/ids.ts';
import type { MessageRole } from '../../../core/conversation/message.ts';
import type { Turn } from '../../../core/conversation/turn.ts';
import type { Executor } from '../../connection/client.ts';
import type { Place } from '../../run/places.ts';
import { spansOf } from '../../run/spans.ts';

/** A completed message of the history. */
export type CompletedMessage = { id: MessageId; branch: string; seq: number; role: MessageRole; turn: Turn };

type Found = { kind: 'completed'; message: CompletedMessage } | { kind: 'delayed' | 'queued' | 'retracted' };

/** Null: the tenant has no such message in this context. */
export async function findMessage(tx: Executor, { tenantId, contextId }: Place, id: MessageId): Promise<Found | null> {
  const [row] = await tx.execute<CompletedMessage & { status: 'completed' | 'delayed' | 'queued' | 'retracted' }>(sql`
    select id, branch, seq, role, turn, status from messages
    where tenant_id = ${tenantId} and context_id = ${contextId} and id = ${id} and status <> 'withdrawn'`);
  if (row === undefined) return null;
  const { status, ...message } = row;
  return status === 'completed' ? { kind: 'completed', message } : { kind: status };
}

/**
 * The complete part of a context: nothing up to these numbers can be retracted any more. `unfinished`: the running or
 * waiting job; its messages on its branch come after the number `after`.
 */
export type Horizon = {
  headSeq: number;
  activeBranch: string;
  unfinished: { branch: string; after: number } | null;
};

/** Null: the tenant has no such context. */
export async function horizonOf(executor: Executor, { tenantId, contextId }: Place): Promise<Horizon | null> {
  type Row = Omit<Horizon, 'unfinished'> & { branch: string | null; after: number };
  const [row] = await executor.execute<Row>(sql`
    select c.head_seq as "headSeq", c.active_branch as "activeBranch", j.branch, coalesce(j.first_seq, 0) as after
    from contexts c left join jobs j on j.context_id = c.id and j.status in ('running', 'waiting')
    where c.id = ${contextId} and c.tenant_id = ${tenantId}`);
  if (row === undefined) return null;
  const { branch, after, ...horizon } = row;
  return { ...horizon, unfinished: branch === null ? null : { branch, after } };
}

/** The number up to which a branch is complete. */
export function completeUpto({ headSeq, unfinished }: Horizon, branch: string): number {
  return unfinished?.branch === branch ? unfinished.after : headSeq;
}

/** Whether the message may still be retracted, or was added after the horizon was read. */
export function isIncomplete(horizon: Horizon, { branch, seq }: CompletedMessage): boolean {
  return seq > completeUpto(horizon, branch);
}

/** The last message that a branch reads with a number up to `upto`; null: none. `role`: only messages of this role. */
export async function lastUpto(
  tx: Executor,
  place: Place,
  branch: string,
  { upto, role = null }: { upto: number; role?: MessageRole | null },
): Promise<CompletedMessage | null> {
  const such = sql`m.status = 'completed' and m.seq <= ${upto} ${role === null ? sql`` : sql`and m.role = ${role}`}`;
  return nearest(tx, place, branch, { such, order: sql`desc` });
}

/** The number of the last message that a branch reads up to `upto`, or of the unfinished answer after it; 0: none. */
export async function lastNumberUpto(tx: Executor, place: Place, branch: string, upto: number): Promise<number> {
  const such = sql`(m.status = 'completed' or m.type = 'partial') and m.seq <= ${upto}`;
  return (await nearest(tx, place, branch, { such, order: sql`desc` }))?.seq ?? 0;
}

/** The first user or assistant message after a number. Results and notes belong to the message before them. */
export async function nextAfter(
  tx: Executor,
  place: Place,
  branch: string,
  after: number,
): Promise<CompletedMessage | null> {
  const such = sql`m.status = 'completed' and m.seq > ${after} and m.role in ('user', 'assistant')`;
  return nearest(tx, place, branch, { such, order: sql`asc` });
}

async function nearest(
  tx: Executor,
  { tenantId, contextId }: Place,
  branch: string,
  { such, order }: { such: SQL; order: SQL },
): Promise<CompletedMessage | null> {
  const [row] = await tx.execute<CompletedMessage>(sql`
    select m.* from (${spansOf(sql`${contextId}::uuid`, sql`${tenantId}`, sql`${branch}`)}) s cross join lateral (
      select m.id, m.branch, m.seq, m.role, m.turn from messages m
      where m.context_id = ${contextId} and m.tenant_id = ${tenantId} and m.branch = s.branch
        and m.seq > s.after and m.seq <= s.upto and ${such}
      order by m.seq ${order} limit 1) m
    order by m.seq ${order} limit 1`);
  return row ?? null;
}
