/**
 * The source of a context's stream: messages in the history and stored events, in one sequence of numbers. Also reads
 * the progress of all followed contexts and jobs in one query.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, JobId, MessageId, ProcessId, TenantId } from '../../../core/ids.ts';
import { textOf, type Block } from '../../../core/conversation/blocks.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { MessageRole, MessageType } from '../../../core/conversation/message.ts';
import { messageCompleted, storedEvent, type NumberedEvent } from '../../../core/stream/stream-event.ts';
import type { Turn } from '../../../core/conversation/turn.ts';
import { shared } from '../../batches/shared.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { prepared } from '../../connection/prepared.ts';
import { columns, recordset } from '../../rows/recordset.ts';
import type { PageRequest } from '../page.ts';

type Row = {
  seq: number;
  name: string | null;
  data: JsonObject | null;
  id: MessageId;
  turn: Turn;
  role: MessageRole;
  type: MessageType;
};

/**
 * Entries with numbers above `after`, in order. A message that was retracted later is included. Uses two index scans: of
 * at most `limit` messages, and of at most `limit` batches of events. A page may begin and end inside of a batch.
 */
export async function readEvents(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  page: PageRequest<number>,
): Promise<NumberedEvent[]> {
  const rows = await executor.execute<Row>(sql`/* events.read */ ${eventsPage(tenantId, contextId, page)}`);
  return rows.map((row) =>
    row.name === null || row.data === null
      ? messageCompleted(contextId, row)
      : storedEvent(contextId, row.seq, row.name, row.data),
  );
}

export function eventsPage(tenantId: TenantId, contextId: ContextId, { after, limit }: PageRequest<number>): SQL {
  return sql`
    (select m.seq, null as name, null::json as data, m.id, m.turn, m.role, m.type from messages m
      where m.context_id = ${contextId} and m.tenant_id = ${tenantId} and m.seq > ${after}
      order by m.seq limit ${limit})
    union all
    (select e.seq, e.event ->> 1, e.event -> 2, null, null, null, null from (
        select * from event_batches b where b.context_id = ${contextId} and b.tenant_id = ${tenantId} and b.seq > ${after}
        order by b.seq limit ${limit}) b
      cross join lateral (
        select b.first_seq + (a.event ->> 0)::bigint as seq, a.event from json_array_elements(b.events) as a(event)) e
      where e.seq > ${after} order by e.seq limit ${limit})
    order by seq limit ${limit}`;
}

/** The last number of a context, and its lease owner. */
type Head = { headSeq: number; owner: ProcessId | null; epoch: number };

/** Null: the tenant has no such context. */
export async function readHead(executor: Executor, tenantId: TenantId, contextId: ContextId): Promise<Head | null> {
  const [row] = await executor.execute<Head>(sql`
    select head_seq as "headSeq", lease_owner as owner, lease_epoch as epoch from contexts
    where tenant_id = ${tenantId} and id = ${contextId}`);
  return row ?? null;
}

/** The key of a context or a job with its tenant, so that ids of other tenants do not match. */
export function keyOf(tenantId: TenantId, id: ContextId | JobId): string {
  return `${tenantId}/${id}`;
}

type StreamProgress = {
  /** By `keyOf`. A context that is missing no longer exists. */
  heads: Map<string, Head>;
  /** By `keyOf`: jobs that ended or no longer exist. */
  ended: Set<string>;
};

type JobKey = { tenantId: TenantId; jobId: JobId };

const JOBS = recordset<JobKey>(
  'a',
  columns({ tenant: ['bigint', ({ tenantId }) => tenantId], id: ['uuid', ({ jobId }) => jobId] }),
);
const endedJobs = JOBS.around(
  'select a.tenant, a.id from ',
  // A subquery for each job: PostgreSQL might read the whole table for a join. A submission may have yet to become one.
  ` where coalesce((select j.finished_at is not null from jobs j where j.tenant_id = a.tenant and j.id = a.id),
    (select s.finished_at is not null from submissions s where s.tenant_id = a.tenant and s.id = a.id), true)`,
);
const ENDED = prepared<{ jobs: string }>((value) => sql`/* jobs.read_ended */ ${endedJobs(value('jobs'))}`);

/** Jobs in one statement at most. */
const SHARED = 64;

/** Whether a job has ended or does not exist. Under load a statement asks for many jobs. */
export const hasEnded = shared<JobKey, boolean>({
  async run(executor, jobs) {
    const rows = await executor.execute<{ tenant: TenantId; id: JobId }>(ENDED({ jobs: JOBS.encodeAll(jobs) }));
    const ended = new Set(rows.map(({ tenant, id }) => keyOf(tenant, id)));
    return jobs.map(({ tenantId, jobId }) => ended.has(keyOf(tenantId, jobId)));
  },
  most: SHARED,
});

/** Reads the progress of all these contexts and jobs in one query. */
export async function readStreamProgress(
  executor: Executor,
  contexts: readonly { tenantId: TenantId; contextId: ContextId }[],
  jobs: readonly JobKey[],
): Promise<StreamProgress> {
  const contextsAsked = encodeJson(contexts.map((one) => ({ tenant: one.tenantId, id: one.contextId })));
  const rows = await executor.execute<{
    tenant: TenantId;
    id: ContextId & JobId;
    head_seq: number | null;
    lease_owner: ProcessId | null;
    lease_epoch: number | null;
  }>(sql`/* events.read_progress */
    select a.tenant, a.id, c.head_seq, c.lease_owner, c.lease_epoch
    from jsonb_to_recordset(${contextsAsked}::jsonb) as a(tenant bigint, id uuid)
    join contexts c on c.id = a.id and c.tenant_id = a.tenant
    union all
    select e.tenant, e.id, null, null, null from (${endedJobs(JOBS.encodeAll(jobs))}) e`);
  const progress: StreamProgress = { heads: new Map(), ended: new Set() };
  for (const { tenant, id, head_seq: headSeq, lease_owner: owner, lease_epoch: epoch } of rows) {
    if (headSeq === null || epoch === null) progress.ended.add(keyOf(tenant, id));
    else progress.heads.set(keyOf(tenant, id), { headSeq, owner, epoch });
  }
  return progress;
}

/** The text of a stored message and, if known, the attempt that produced it. Null: no such message. */
export async function readText(
  executor: Executor,
  tenantId: TenantId,
  messageId: MessageId,
): Promise<{ text: string; attempt: number | null } | null> {
  const [row] = await executor.execute<{ content: Block[]; attempt: number | null }>(
    sql`select content, attempt from messages where tenant_id = ${tenantId} and id = ${messageId}`,
  );
  return row === undefined ? null : { text: textOf(row.content), attempt: row.attempt };
}
