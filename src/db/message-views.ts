/** Messages as clients read them: history in order, then what is queued. Withdrawn ones are not there. */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Block } from '../core/blocks.ts';
import type { ContextId, JobId, MessageId, TenantId } from '../core/ids.ts';
import type { MessageRole, MessageType, ModelMeta } from '../core/message.ts';
import type { Millis } from '../core/time.ts';
import type { Turn } from '../core/turn.ts';
import type { Executor } from './client.ts';
import { millis, toTimestamp } from './instant.ts';
import { toModelMeta } from './model-meta.ts';
import type { ModelColumns } from './model-meta.ts';

export type MessageView = {
  id: MessageId;
  contextId: ContextId;
  branch: string;
  /** Both null while it is queued. */
  seq: number | null;
  turn: Turn | null;
  role: MessageRole;
  type: MessageType;
  status: 'queued' | 'completed' | 'retracted';
  content: Block[];
  jobId: JobId | null;
  createdAt: Millis;
  completedAt: Millis | null;
  model: ModelMeta | null;
  /** An input's place in the queue of its context, kept when it enters history; null of what was never queued. */
  queue: QueuePlace | null;
};

/**
 * The order of what is queued: inputs that join the running job first, then by priority, then as they came or were moved.
 */
export type QueuePlace = { lane: number; position: number; id: MessageId };

/**
 * How far a reader came. `seq`: of the last entry of history, null before the first. `queue`: the place of the last queued
 * input, and when the newest of those that were read was made; null before the first. An input that was read while it was
 * queued is not read again once it is history.
 */
export type Place = { seq: number | null; queue: (QueuePlace & { newest: Millis }) | null };

export type MessageRange = {
  branch: string;
  /** Null: all turns, and what is queued. */
  turn: Turn | null;
  order: 'asc' | 'desc';
  /** Those too that were taken back. */
  retracted: boolean;
  after: Place;
  limit: number;
};

type Row = ModelColumns & {
  id: MessageId;
  context_id: ContextId;
  branch: string;
  seq: number | null;
  turn: Turn | null;
  role: MessageRole;
  type: MessageType;
  status: 'queued' | 'completed' | 'retracted';
  content: Block[];
  job_id: JobId | null;
  created_at: Millis;
  completed_at: Millis | null;
  lane: number | null;
  position: number | null;
};

/** Steered inputs are in no queue: they come before all that are. */
const lane: SQL = sql`(case when j.id is null then null when j.message_id = m.id then j.priority else -1 end)`;

/** `j` is the job of an input. */
const messagesWithPlace: SQL = sql`select m.id, m.context_id, m.branch, m.seq, m.turn, m.role, m.type, m.status, m.content,
  m.job_id, ${millis(sql`m.created_at`)} as created_at, ${millis(sql`m.completed_at`)} as completed_at, m.model_id,
  m.provider_id, m.input_tokens, m.output_tokens, m.cache_read_tokens, m.cache_write_tokens, m.finish_reason,
  ${lane} as lane, j.position from messages m left join jobs j on m.role = 'user' and j.id = m.job_id`;

function toView(row: Row): MessageView {
  return {
    id: row.id,
    contextId: row.context_id,
    branch: row.branch,
    seq: row.seq,
    turn: row.turn,
    role: row.role,
    type: row.type,
    status: row.status,
    content: row.content,
    jobId: row.job_id,
    createdAt: row.created_at,
    completedAt: row.completed_at,
    model: toModelMeta(row),
    queue:
      row.lane === null || row.position === null
        ? null
        : { lane: row.lane, position: row.position, id: row.id },
  };
}

/** Null: this tenant has no such message in this context. */
export async function findMessage(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  id: MessageId,
): Promise<MessageView | null> {
  const [row] = await executor.execute<Row>(sql`
    ${messagesWithPlace} where m.tenant_id = ${tenantId} and m.context_id = ${contextId} and m.id = ${id}
      and m.status in ('queued', 'completed', 'retracted')`);
  return row === undefined ? null : toView(row);
}

/** At most `limit`. Null: this tenant has no such context. */
export async function listMessages(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  range: MessageRange,
): Promise<MessageView[] | null> {
  const of = sql`m.tenant_id = ${tenantId} and m.context_id = ${contextId} and m.branch = ${range.branch}`;
  const parts = range.turn === null ? [historyOf(of, range), queueOf(of, range)] : [historyOf(of, range)];
  const direction = range.order === 'asc' ? sql`asc` : sql`desc`;
  const rows = await executor.execute<Row | { id: null }>(sql`
    select l.* from contexts c left join (
      (${sql.join(parts, sql`) union all (`)})
    ) l on true
    where c.tenant_id = ${tenantId} and c.id = ${contextId}
    order by l.status = 'queued' ${direction}, l.seq ${direction}, l.lane ${direction}, l.position ${direction},
      l.id ${direction} limit ${range.limit}`);
  if (rows.length === 0) return null;
  return rows.flatMap((row) => (row.id === null ? [] : [toView(row)]));
}

function historyOf(of: SQL, { turn, order, retracted, after, limit }: MessageRange): SQL {
  const direction = order === 'asc' ? sql`asc` : sql`desc`;
  const conditions = [
    of,
    sql`m.seq is not null`,
    ...(retracted ? [] : [sql`m.status = 'completed'`]),
    ...(turn === null ? [] : [sql`m.turn = ${turn}`]),
    ...(after.seq === null ? [] : [sql`m.seq ${order === 'asc' ? sql`>` : sql`<`} ${after.seq}`]),
    // Not again what was read while it was queued.
    ...(after.queue === null
      ? []
      : [
          sql`not coalesce(${queueOrder} ${order === 'asc' ? sql`<=` : sql`>=`} ${placeOf(after.queue)}
            and m.created_at <= ${toTimestamp(after.queue.newest)}::timestamptz, false)`,
        ]),
  ];
  return sql`${messagesWithPlace} where ${sql.join(conditions, sql` and `)} order by m.seq ${direction} limit ${limit}`;
}

/** Read after history in ascending order, before it in descending order. */
function queueOf(of: SQL, { order, after, limit }: MessageRange): SQL {
  const direction = order === 'asc' ? sql`asc` : sql`desc`;
  const conditions = [
    of,
    sql`m.seq is null and m.status = 'queued'`,
    ...(order === 'desc' && after.seq !== null ? [sql`false`] : []),
    ...(after.queue === null
      ? []
      : [sql`${queueOrder} ${order === 'asc' ? sql`>` : sql`<`} ${placeOf(after.queue)}`]),
  ];
  return sql`${messagesWithPlace} where ${sql.join(conditions, sql` and `)}
    order by lane ${direction}, j.position ${direction}, m.id ${direction} limit ${limit}`;
}

const queueOrder: SQL = sql`(${lane}, j.position, m.id)`;

function placeOf({ lane, position, id }: QueuePlace): SQL {
  return sql`(${lane}::int, ${position}::bigint, ${id}::uuid)`;
}
