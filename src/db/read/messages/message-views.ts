/**
 * Messages as the API returns them: the history in order, then queued inputs. Lists leave out delayed inputs, which are
 * in no queue yet. Withdrawn messages are never returned.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { Block } from '../../../core/conversation/blocks.ts';
import type { ContextId, JobId, MessageId, TenantId, WorkerId } from '../../../core/ids.ts';
import type { Retraction } from '../../../core/conversation/retraction.ts';
import type { MessageRole, MessageType, ModelMeta } from '../../../core/conversation/message.ts';
import type { Millis } from '../../../core/time.ts';
import { parseTurn, type Turn } from '../../../core/conversation/turn.ts';
import type { Executor } from '../../connection/client.ts';
import { summarisedUpto } from '../../run/compactions.ts';
import { millis, toTimestamp } from '../../connection/instant.ts';
import { toModelMeta, type ModelColumns } from '../../model-calls/model-meta.ts';
import { isCut, withinBytes, type OfPage } from '../page.ts';
import { askedFor, spansOf } from '../../run/spans.ts';
import { turnBegins, turnEnds } from './turns.ts';
import { usageColumns } from '../../model-calls/usage.ts';

export type MessageView = {
  id: MessageId;
  contextId: ContextId;
  branch: string;
  /** Both null while it is queued. */
  seq: number | null;
  turn: Turn | null;
  role: MessageRole;
  type: MessageType;
  status: 'delayed' | 'queued' | 'completed' | 'retracted';
  /** Why it was retracted; null: it was not, or that is not known. */
  retraction: Retraction | null;
  /** An input that joined a running job, or waits to join it. */
  steered: boolean;
  /** A summary replaces it in the prompt. */
  compacted: boolean;
  content: Block[];
  jobId: JobId | null;
  /** The worker that sent this input, or whose job's end it reports. */
  senderWorkerId: WorkerId | null;
  createdAt: Millis;
  completedAt: Millis | null;
  model: ModelMeta | null;
  /** The queue place of an input, kept when it enters the history; null for messages that were never queued. */
  queue: QueuePlace | null;
};

/**
 * The order of queued inputs: inputs that join the running job first, then by priority, then by arrival or by their
 * moved position.
 */
type QueuePlace = { lane: number; position: number; id: MessageId };

/**
 * The cursor of a reader. `seq`: of the last history entry read; null before the first. `queue`: the place of the last
 * queued input read, and the creation time of the newest one read; null before the first. An input read while it was
 * queued is not returned again after it enters the history.
 */
export type Place = { seq: number | null; queue: (QueuePlace & { newest: Millis }) | null };

export type MessageRange = {
  /** Null: the active branch. */
  branch: string | null;
  /** Null: all turns, and queued inputs. */
  turn: Turn | null;
  order: 'asc' | 'desc';
  /** Include retracted messages, and the text of unfinished answers. */
  retracted: boolean;
  /** Include messages that a summary replaces. */
  compacted: boolean;
  after: Place;
  limit: number;
};

type Row = ModelColumns & Omit<MessageView, 'model' | 'queue'> & { lane: number | null; position: number | null };

/** Steers are in no queue. They sort before all queued inputs. */
const lane: SQL = sql`(case when j.id is null then null when j.message_id = m.id then j.priority else -1 end)`;

/** `j` is the job of an input. `upto`: the number up to which a summary replaces messages. */
const messagesWithPlace = (
  upto: SQL,
): SQL => sql`select m.id, m.context_id as "contextId", m.branch, m.seq, m.turn, m.role, m.type, m.status,
  m.retraction, coalesce(j.message_id <> m.id, j.id is not null) as steered,
  coalesce(m.seq <= ${upto}, false) as compacted, m.content, m.bytes,
  m.job_id as "jobId", m.sender_worker_id as "senderWorkerId", ${millis(sql`m.created_at`)} as "createdAt",
  ${millis(sql`m.completed_at`)} as "completedAt", m.model_id, m.provider_id, ${usageColumns('m')}, m.finish_reason,
  ${lane} as lane, j.position from messages m left join jobs j on m.role = 'user' and j.id = m.job_id`;

function toView(row: Row): MessageView {
  return {
    id: row.id,
    contextId: row.contextId,
    branch: row.branch,
    seq: row.seq,
    turn: row.turn,
    role: row.role,
    type: row.type,
    status: row.status,
    retraction: row.retraction,
    steered: row.steered,
    compacted: row.compacted,
    content: row.content,
    jobId: row.jobId,
    senderWorkerId: row.senderWorkerId,
    createdAt: row.createdAt,
    completedAt: row.completedAt,
    model: toModelMeta(row),
    queue: row.lane === null || row.position === null ? null : { lane: row.lane, position: row.position, id: row.id },
  };
}

/** Null: the tenant has no such message in this context. */
export async function findMessage(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  id: MessageId,
): Promise<MessageView | null> {
  const [row] = await executor.execute<Row>(sql`
    ${messagesWithPlace(summarisedUpto(sql`m.context_id`, sql`m.tenant_id`, sql`m.branch`))} where m.tenant_id = ${tenantId} and m.context_id = ${contextId} and m.id = ${id}
      and m.status in ('delayed', 'queued', 'completed', 'retracted')`);
  return row === undefined ? null : toView(row);
}

/**
 * At most `limit` messages, within the page's byte limit, and the name of their branch. `messages` null: no branch has
 * that name. `more`: the page ended at its byte limit. Null: the tenant has no such context.
 */
export async function listMessages(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  range: MessageRange,
): Promise<{ branch: string; messages: MessageView[] | null; more: boolean } | null> {
  const of = sql`m.tenant_id = ${tenantId} and m.context_id = ${contextId}`;
  const parts = range.turn === null ? [historyOf(of, range), queueOf(of, range)] : [historyOf(of, range)];
  const direction = range.order === 'asc' ? sql`asc` : sql`desc`;
  const asked = withSummarised(askedFor(tenantId, contextId, range.branch));
  type Listed = { asked: string; found: string | null };
  const page = sql`
    select at.asked, at.found, l.* from (
      ${range.turn === null ? asked : withTurn(asked, range.turn)}
    ) at left join lateral (
      (${sql.join(parts, sql`) union all (`)})
    ) l on true
    order by ${orderOf(sql`l`, direction)} limit ${range.limit}`;
  const rows = await executor.execute<OfPage & Listed & (Row | { id: null })>(
    withinBytes(page, orderOf(sql`p`, direction)),
  );
  const [first] = rows;
  if (first === undefined) return null;
  const messages = first.found === null ? null : rows.flatMap((row) => (row.id === null ? [] : [toView(row)]));
  return { branch: first.asked, messages, more: isCut(rows) };
}

/** The history, then queued inputs. */
function orderOf(row: SQL, direction: SQL): SQL {
  const keys = [sql`${row}.status = 'queued'`, ...ORDER.map((key) => sql`${row}.${key}`)];
  return sql.join(
    keys.map((key) => sql`${key} ${direction}`),
    sql`, `,
  );
}

const ORDER: readonly SQL[] = [sql`seq`, sql`lane`, sql`position`, sql`id`];

/** Adds `summarised`, the number up to which a summary replaces messages. Computed once, not per message. */
function withSummarised(asked: SQL): SQL {
  const upto = summarisedUpto(sql`at.id`, sql`at.tenant_id`, sql`at.found`);
  return sql`select at.*, ${upto} as summarised from (${asked}) at offset 0`;
}

/**
 * Adds `low` and `high`, the numbers around the turn, so that no rows beyond are read. `offset 0` computes them only
 * once.
 */
function withTurn(asked: SQL, turn: Turn): SQL {
  const on = { contextId: sql`at.id`, tenantId: sql`at.tenant_id`, branch: sql`at.found` };
  const number = sql`${parseTurn(turn)?.number ?? 0}::int`;
  return sql`select at.*, ${turnBegins(on, number)} as low, ${turnEnds(on, number)} as high from (${asked}) at offset 0`;
}

/** Reads the spans of the branch one by one, no further than the page needs. */
function historyOf(of: SQL, { turn, order, retracted, compacted, after, limit }: MessageRange): SQL {
  const direction = order === 'asc' ? sql`asc` : sql`desc`;
  const conditions = [
    of,
    sql`m.branch = s.branch and m.seq > s.after and m.seq <= s.upto`,
    ...(compacted ? [] : [sql`m.seq > at.summarised`]),
    ...(retracted ? [] : [sql`m.status = 'completed'`]),
    ...(turn === null ? [] : [sql`m.turn = ${turn} and m.seq > at.low and m.seq < at.high`]),
    ...(after.seq === null ? [] : [sql`m.seq ${order === 'asc' ? sql`>` : sql`<`} ${after.seq}`]),
    // Leaves out what the reader already got while it was queued. A delayed input was not, before its start.
    ...(after.queue === null
      ? []
      : [
          sql`not coalesce(${queueOrder} ${order === 'asc' ? sql`<=` : sql`>=`} ${placeOf(after.queue)}
            and greatest(m.created_at, j.starts_at) <= ${toTimestamp(after.queue.newest)}::timestamptz, false)`,
        ]),
  ];
  return sql`
    select m.* from (${spansOf(sql`at.id`, sql`at.tenant_id`, sql`at.found`)}) s cross join lateral (
      ${messagesWithPlace(sql`at.summarised`)} where ${sql.join(conditions, sql` and `)}
      order by m.seq ${direction} limit ${limit}) m
    order by s.after ${direction}, m.seq ${direction} limit ${limit}`;
}

/** Queued inputs come after the history in ascending order, and before it in descending order. */
function queueOf(of: SQL, { order, after, limit }: MessageRange): SQL {
  const direction = order === 'asc' ? sql`asc` : sql`desc`;
  const conditions = [
    of,
    sql`m.branch = at.found and m.seq is null and m.status = 'queued'`,
    ...(order === 'desc' && after.seq !== null ? [sql`false`] : []),
    ...(after.queue === null ? [] : [sql`${queueOrder} ${order === 'asc' ? sql`>` : sql`<`} ${placeOf(after.queue)}`]),
  ];
  return sql`${messagesWithPlace(sql`0`)} where ${sql.join(conditions, sql` and `)}
    order by lane ${direction}, j.position ${direction}, m.id ${direction} limit ${limit}`;
}

const queueOrder: SQL = sql`(${lane}, j.position, m.id)`;

function placeOf({ lane, position, id }: QueuePlace): SQL {
  return sql`(${lane}::int, ${position}::bigint, ${id}::uuid)`;
}
