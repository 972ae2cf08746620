/**
 * The source of a context's stream: messages in the history and stored events, in one sequence of numbers. Also reads
 * the progress of all followed contexts and jobs in one query.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { JobError } from '../../../core/errors.ts';
import type { ContextId, JobId, MessageId, ProcessId, TenantId } from '../../../core/ids.ts';
import { textOf, type Block } from '../../../core/conversation/blocks.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { MessageRole, MessageType } from '../../../core/conversation/message.ts';
import {
  JOB_FINISHED,
  SHOWN_OUTPUT,
  endingOutput,
  messageStored,
  storedEvent,
  tellEnding,
  type NumberedEvent,
} from '../../../core/stream/stream-event.ts';
import type { Millis } from '../../../core/time.ts';
import type { Turn } from '../../../core/conversation/turn.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { millis } from '../../connection/instant.ts';
import { arrivedJobs, watchKeyOf, type Watched } from '../jobs/watched-jobs.ts';
import type { PageRequest } from '../page.ts';
import { beginningOf, readBeginning } from './beginning.ts';

type Row = {
  seq: number;
  name: string | null;
  data: JsonObject | null;
  id: MessageId;
  turn: Turn;
  role: MessageRole;
  type: MessageType;
  at: Millis;
  /** Of `JobFinished`. */
  ending: { outputId: MessageId | null; hex: string | null; error: JobError | null } | null;
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
  return rows.map((row) => toEvent(contextId, row));
}

function toEvent(contextId: ContextId, row: Row): NumberedEvent {
  const { seq, name, data, at } = row;
  if (name === null || data === null) return messageStored(contextId, row, at);
  if (name !== JOB_FINISHED) return storedEvent(contextId, { seq, name, data, at });
  const { outputId = null, hex = null, error = null } = row.ending ?? {};
  const output = outputId === null ? null : endingOutput(outputId, readBeginning(hex));
  return storedEvent(contextId, { seq, name, data: { ...data, ...tellEnding({ output, error }) }, at });
}

/** How the job of the event `data` ended. Its text is hex, because it may be cut inside a character. */
const endingOf = (tenantId: TenantId, data: SQL): SQL => sql`(
  select jsonb_build_object('outputId', j.output_message_id, 'error', j.error, 'hex',
    ${beginningOf(sql`m.content`, SHOWN_OUTPUT)})
  from jobs j left join messages m on m.id = j.output_message_id
  where j.tenant_id = ${tenantId} and j.id = (${data} ->> 'job_id')::uuid)`;

export function eventsPage(tenantId: TenantId, contextId: ContextId, { after, limit }: PageRequest<number>): SQL {
  return sql`
    (select m.seq, null as name, null::json as data, m.id, m.turn, m.role, m.type,
        ${millis(sql`coalesce(m.appended_at, m.completed_at, m.created_at)`)} as at, null::jsonb as ending from messages m
      where m.context_id = ${contextId} and m.tenant_id = ${tenantId} and m.seq > ${after}
      order by m.seq limit ${limit})
    union all
    (select e.seq, e.event ->> 1, e.event -> 2, null, null, null, null, ${millis(sql`b.created_at`)},
        case when e.event ->> 1 = ${JOB_FINISHED} then ${endingOf(tenantId, sql`(e.event -> 2)`)} end from (
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

/** The key of a context with its tenant, so that ids of other tenants do not match. */
export function keyOf(tenantId: TenantId, id: ContextId): string {
  return `${tenantId}/${id}`;
}

type StreamProgress = {
  /** By `keyOf`. A context that is missing no longer exists. */
  heads: Map<string, Head>;
  /** By `watchKeyOf`: jobs that have come so far. */
  arrived: Set<string>;
};

/** Reads the progress of all these contexts and jobs in one query. */
export async function readStreamProgress(
  executor: Executor,
  contexts: readonly { tenantId: TenantId; contextId: ContextId }[],
  jobs: readonly Watched[],
): Promise<StreamProgress> {
  const contextsAsked = encodeJson(contexts.map((one) => ({ tenant: one.tenantId, id: one.contextId })));
  const rows = await executor.execute<{
    tenant: TenantId;
    id: ContextId & JobId;
    until: Watched['until'] | null;
    head_seq: number | null;
    lease_owner: ProcessId | null;
    lease_epoch: number | null;
  }>(sql`/* events.read_progress */
    select a.tenant, a.id, null as until, c.head_seq, c.lease_owner, c.lease_epoch
    from jsonb_to_recordset(${contextsAsked}::jsonb) as a(tenant bigint, id uuid)
    join contexts c on c.id = a.id and c.tenant_id = a.tenant
    union all
    select e.tenant, e.id, e.until, null, null, null from (${arrivedJobs(jobs)}) e`);
  const progress: StreamProgress = { heads: new Map(), arrived: new Set() };
  for (const { tenant, id, until, head_seq: headSeq, lease_owner: owner, lease_epoch: epoch } of rows) {
    if (until !== null) progress.arrived.add(watchKeyOf({ tenantId: tenant, jobId: id, until }));
    else if (headSeq !== null && epoch !== null) progress.heads.set(keyOf(tenant, id), { headSeq, owner, epoch });
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
