/**
 * A snapshot of a context, read in pages. The snapshot is identified by `headSeq`: a numbered message can only be
 * retracted, and messages retracted after that number are exported as they were. So no lock or transaction is open
 * between two pages, however slowly the client reads.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { Span } from '../../../core/conversation/branch.ts';
import type { Block } from '../../../core/conversation/blocks.ts';
import type { ContextId, MessageId, TenantId } from '../../../core/ids.ts';
import type { Retraction } from '../../../core/conversation/retraction.ts';
import type { MessageRole, MessageType, ModelMeta } from '../../../core/conversation/message.ts';
import type { WorkerConfig } from '../../../core/workers/settings.ts';
import type { Millis } from '../../../core/time.ts';
import type { Turn } from '../../../core/conversation/turn.ts';
import type { Usage } from '../../../core/money/usage.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { millis } from '../../connection/instant.ts';
import { toModelMeta, type ModelColumns } from '../../model-calls/model-meta.ts';
import { usageColumns, usageObject } from '../../model-calls/usage.ts';

/** Maximum number of messages per page, and maximum size in bytes as stored (compressed). */
const PAGE = 200;
const PAGE_BYTES = 512 * 1024;

export type Counters = { messageCount: number; requestCount: number; usage: Usage };

export type StoredBranch = Counters & {
  name: string;
  parentName: string | null;
  forkSeq: number | null;
  /** Null: all messages with its name. */
  spans: Span[] | null;
  createdAt: Millis;
};

export type StoredCompaction = {
  seq: number;
  branch: string;
  uptoSeq: number;
  type: 'threshold' | 'llm';
  summary: string | null;
  model: string | null;
  tokensBefore: number;
  tokensAfter: number;
  createdAt: Millis;
};

export type StoredContext = Counters & {
  title: string | null;
  worker: { name: string; role: string | null };
  config: WorkerConfig;
  activeBranch: string;
  turnCount: number;
  createdAt: Millis;
  /** Identifies the snapshot. */
  headSeq: number;
  branches: StoredBranch[];
  /** In order, without those that an interrupt made void. */
  compactions: StoredCompaction[];
};

export type StoredMessage = {
  seq: number;
  branch: string;
  role: MessageRole;
  type: MessageType;
  turn: Turn;
  status: 'completed' | 'retracted';
  /** Null: it is not retracted, or why is not known. */
  retraction: Retraction | null;
  content: Block[];
  createdAt: Millis;
  completedAt: Millis | null;
  model: ModelMeta | null;
  attempt: number | null;
  calledAt: Millis | null;
  firstByteAt: Millis | null;
};

type Row = Omit<StoredContext, 'worker'> & StoredContext['worker'];

/** Everything but the messages, in one statement. Null: the tenant has no such context. */
export async function readContext(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
): Promise<StoredContext | null> {
  const [row] = await executor.execute<Row>(sql`
    select w.title, w.name, w.role, w.config, c.active_branch as "activeBranch", c.message_count as "messageCount",
      c.turn_count as "turnCount", c.request_count as "requestCount", ${usageObject('c')} as usage,
      c.head_seq as "headSeq", ${millis(sql`w.created_at`)} as "createdAt",
      (select jsonb_agg(jsonb_build_object('name', t.name, 'parentName', t.parent_name, 'forkSeq', t.fork_seq, 'spans', t.spans,
          'messageCount', t.message_count, 'requestCount', t.request_count, 'usage', ${usageObject('t')},
          'createdAt', ${millis(sql`t.created_at`)}) order by t.created_at, t.name)
        from branches t where t.context_id = c.id) as branches,
      (select coalesce(jsonb_agg(jsonb_build_object('seq', t.seq, 'branch', t.branch, 'uptoSeq', t.upto_seq, 'type', t.type,
          'summary', t.summary, 'model', t.model, 'tokensBefore', t.tokens_before, 'tokensAfter', t.tokens_after,
          'createdAt', ${millis(sql`t.created_at`)}) order by t.seq), '[]')
        from compactions t where t.context_id = c.id and not exists (
          select 1 from jobs j where j.id = t.job_id and j.status = 'interrupted' and j.stop_mode <> 'keep'
            and t.upto_seq > j.first_seq)) as compactions
    from contexts c join workers w on w.context_id = c.id
    where c.tenant_id = ${tenantId} and c.id = ${contextId}`);
  if (row === undefined) return null;
  const { name, role, ...context } = row;
  return { ...context, worker: { name, role } };
}

export type ExportRange = {
  tenantId: TenantId;
  contextId: ContextId;
  /** Identifies the snapshot. */
  headSeq: number;
  after: number;
  /** Only the history of these spans; null: every message ever stored. */
  spans: readonly Span[] | null;
};

/** The next messages after `after`, in order; empty at the end. Null: the context no longer exists. */
export async function readExportPage(executor: Executor, range: ExportRange): Promise<StoredMessage[] | null> {
  const { tenantId, contextId, headSeq, after, spans } = range;
  const rows = await executor.execute<MessageRow | { id: null }>(sql`/* contexts.export_page */
    select p.* from contexts c left join lateral (
      select m.id, m.seq, m.branch, m.role, m.type, m.turn, ${statusAt(headSeq)} as status, m.retraction, m.content, m.model_id,
        m.provider_id, m.finish_reason, ${usageColumns('m')},
        m.attempt, ${millis(sql`m.called_at`)} as "calledAt", ${millis(sql`m.first_byte_at`)} as "firstByteAt",
        ${millis(sql`m.created_at`)} as "createdAt", ${millis(sql`m.completed_at`)} as "completedAt"
      from (
        select n.id, sum(n.size) over (order by n.seq) - n.size as before from (
          select m.id, m.seq, pg_column_size(m.content) as size from messages m
          where m.context_id = c.id and m.tenant_id = c.tenant_id and m.seq > ${after} and m.seq <= ${headSeq}
            ${spans === null ? sql`` : sql`and ${isRead(spans)} and ${statusAt(headSeq)} = 'completed'`}
          order by m.seq limit ${PAGE}) n
      ) s join messages m on m.id = s.id
      where s.before < ${PAGE_BYTES}
    ) p on true
    where c.tenant_id = ${tenantId} and c.id = ${contextId} order by p.seq`);
  if (rows.length === 0) return null;
  return rows.flatMap((row) => (row.id === null ? [] : [toMessage(row)]));
}

/** The status of `m` as of `headSeq`. */
function statusAt(headSeq: number): SQL {
  return sql`(case when m.retracted_seq > ${headSeq} then 'completed' else m.status end)`;
}

function isRead(spans: readonly Span[]): SQL {
  return sql`exists (
    select 1 from jsonb_to_recordset(${encodeJson(spans)}::jsonb) as r(branch text, "after" bigint, upto bigint)
    where r.branch = m.branch and m.seq > r."after" and (r.upto is null or m.seq <= r.upto))`;
}

type MessageRow = ModelColumns & Omit<StoredMessage, 'model'> & { id: MessageId };

function toMessage(row: MessageRow): StoredMessage {
  const { seq, branch, role, type, turn, status, content, attempt } = row;
  return {
    seq,
    branch,
    role,
    type,
    turn,
    status,
    retraction: status === 'retracted' ? row.retraction : null,
    content,
    createdAt: row.createdAt,
    completedAt: row.completedAt,
    model: toModelMeta(row),
    attempt,
    calledAt: row.calledAt,
    firstByteAt: row.firstByteAt,
  };
}
