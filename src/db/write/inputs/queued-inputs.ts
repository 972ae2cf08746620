/** Delayed and queued inputs: edited, moved, withdrawn. The caller has locked the context's row. */
import { sql } from 'drizzle-orm';
import type { InputBlock } from '../../../core/conversation/blocks.ts';
import type { JobId, MessageId } from '../../../core/ids.ts';
import type { User } from '../../../core/access/user.ts';
import type { Executor } from '../../connection/client.ts';
import type { Place } from '../../run/places.ts';
import { encodeJson } from '../../connection/codec.ts';

/**
 * `delayed`: is not in the queue yet. `queued`: waits for its own job. `steered`: waits to join a running job. `gone`: is
 * in the history. `user`: on whose behalf its job runs.
 */
export type QueuedInput = { kind: 'delayed' | 'queued' | 'steered' | 'gone'; jobId: JobId; user: User | null };

/** Null: the tenant has no such message in this context. */
export async function findInput(
  tx: Executor,
  { tenantId, contextId }: Place,
  messageId: MessageId,
): Promise<QueuedInput | null> {
  const [row] = await tx.execute<{ status: string; job_id: JobId; waits: boolean; user: User | null }>(sql`
    select m.status, m.job_id, j.user_name as "user", j.status = 'queued' as waits
    from messages m join jobs j on j.id = m.job_id
    where m.tenant_id = ${tenantId} and m.context_id = ${contextId} and m.id = ${messageId}
      and m.status <> 'withdrawn'`);
  if (row === undefined) return null;
  return { kind: kindOf(row), jobId: row.job_id, user: row.user };
}

function kindOf({ status, waits }: { status: string; waits: boolean }): QueuedInput['kind'] {
  if (status === 'delayed') return 'delayed';
  if (status !== 'queued') return 'gone';
  return waits ? 'queued' : 'steered';
}

/** Returns by how many bytes its content is longer than before. */
export async function rewriteInput(
  tx: Executor,
  { tenantId, contextId }: Place,
  messageId: MessageId,
  content: readonly InputBlock[],
): Promise<number> {
  const [row] = await tx.execute<{ added: number }>(sql`/* inputs.edit */
    with before as (
      select id, bytes from messages
      where tenant_id = ${tenantId} and context_id = ${contextId} and id = ${messageId}
        and status in ('delayed', 'queued')
    ), message as (
      update messages m set content = ${encodeJson(content)}::json from before where m.id = before.id
      returning m.context_id, m.bytes - before.bytes as added
    ), untitled as (
      -- It may have named the worker that was made with it. The search index finds the new name in the history.
      update workers w set first_input = null from message join contexts c on c.id = message.context_id
      where w.context_id = c.id and c.message_count = 0 and w.first_input is not null
    )
    update contexts c set stored_bytes = c.stored_bytes + message.added
    from message where c.id = message.context_id returning message.added`);
  return row?.added ?? 0;
}

/** Withdraws a steer. The job continues without it. */
export async function withdrawSteered(
  tx: Executor,
  { tenantId, contextId }: Place,
  messageId: MessageId,
): Promise<void> {
  await tx.execute(sql`/* inputs.withdraw_steered */
    with message as (
      update messages set status = 'withdrawn'
      where tenant_id = ${tenantId} and context_id = ${contextId} and id = ${messageId} and status = 'queued'
      returning context_id
    )
    update contexts c set steers = c.steers - 1 from message where c.id = message.context_id`);
}

/**
 * Moves a job to a place in its context's queue, counted from 1; larger places mean the end. It takes the priority
 * there.
 */
export async function moveJob(
  tx: Executor,
  { tenantId, contextId }: Place,
  jobId: JobId,
  place: number,
): Promise<void> {
  const queue = await tx.execute<{ id: JobId; priority: number; position: number }>(sql`
    select id, priority, position from jobs
    where tenant_id = ${tenantId} and context_id = ${contextId} and status = 'queued'
    order by priority, position, id`);
  const order = queue.filter(({ id }) => id !== jobId).map(({ id }) => id);
  order.splice(place - 1, 0, jobId);
  // The set of positions stays the same. Only their assignment to jobs changes.
  const positions = queue.map(({ position }) => position).sort((a, b) => a - b);
  const there = queue[Math.min(place, queue.length) - 1];
  const priorityOf = new Map(queue.map(({ id, priority }) => [id, priority]));
  const moved = order.map((id, index) => ({
    id,
    position: positions[index],
    priority: id === jobId ? there?.priority : priorityOf.get(id),
  }));
  await tx.execute(sql`/* jobs.move */
    update jobs j set position = m.position, priority = m.priority
    from jsonb_to_recordset(${encodeJson(moved)}::jsonb) as m(id uuid, position bigint, priority int)
    where j.id = m.id and j.tenant_id = ${tenantId} and j.context_id = ${contextId} and j.status = 'queued'
      and (j.position, j.priority) is distinct from (m.position, m.priority)`);
}
