/** Fills a context that was created in the same transaction with imported entries. Numbers are those of the entries. */
import { setImmediate } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { ImportFormat } from '../../../core/stream/event.ts';
import type { Ids, JobId, MessageId } from '../../../core/ids.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson, encodeText, plainText } from '../../connection/codec.ts';
import type {
  Counters,
  StoredBranch,
  StoredCompaction,
  StoredContext,
  StoredMessage,
} from '../../read/messages/export.ts';
import { toTimestamp } from '../../connection/instant.ts';
import type { Place } from '../../run/history.ts';
import { leaveToSearch } from '../../search/search-index.ts';

/** Numbered from 1, without gaps. */
export type StoredEntry =
  | { kind: 'message'; message: StoredMessage }
  | { kind: 'compaction'; compaction: StoredCompaction };

export type Filling = {
  context: Pick<StoredContext, 'activeBranch' | 'turnCount' | 'createdAt' | 'branches' | keyof Counters>;
  /** Starts again from the first entry on each call, because a transaction may run again. */
  entries: () => AsyncIterable<StoredEntry>;
  told: { format: ImportFormat; kept: JsonObject | null };
};

/** Limits per statement: entries, and characters of their content. */
const BATCH = 500;
const BATCH_CHARACTERS = 2_000_000;

export async function fillContext(
  tx: Executor,
  ids: Ids,
  place: Place,
  { context, entries, told }: Filling,
): Promise<void> {
  const { tenantId, contextId } = place;
  const last = await insertEntries(tx, ids, place, entries());
  await insertBranches(tx, place, context.branches);
  const { usage } = context;
  await tx.execute(sql`/* contexts.import */
    with ctx as (
      update contexts set head_seq = ${last + 1}, active_branch = ${context.activeBranch}, turn_count = ${context.turnCount},
        message_count = ${context.messageCount}, request_count = ${context.requestCount},
        input_tokens = ${usage.input_tokens}, output_tokens = ${usage.output_tokens},
        cache_read_tokens = ${usage.cache_read_tokens}, cache_write_tokens = ${usage.cache_write_tokens},
        cost_nanos = ${usage.cost_nanos}
      where id = ${contextId} and tenant_id = ${tenantId} returning id, tenant_id, head_seq
    ), dated as (
      update workers w set created_at = ${toTimestamp(context.createdAt)}::timestamptz from ctx where w.context_id = ctx.id
    )
    insert into events (context_id, tenant_id, seq, name, data)
    select id, tenant_id, head_seq, 'ContextImported', ${encodeJson(told)}::jsonb from ctx`);
  await leaveToSearch(tx, tenantId, contextId);
}

/** Returns the number of the last entry. */
async function insertEntries(
  tx: Executor,
  ids: Ids,
  place: Place,
  entries: AsyncIterable<StoredEntry>,
): Promise<number> {
  let last = 0;
  let messages: string[] = [];
  let characters = 0;
  const flush = async (): Promise<void> => {
    await insertMessages(tx, place, `[${messages.join(',')}]`);
    messages = [];
    characters = 0;
  };
  for await (const entry of entries) {
    if (entry.kind === 'compaction') {
      await insertCompaction(tx, ids, place, entry.compaction);
      last = entry.compaction.seq;
      continue;
    }
    const row = encodeJson(messageRow(ids, entry.message));
    last = entry.message.seq;
    messages.push(row);
    characters += row.length;
    // Encoding megabytes of JSON blocks the event loop, and so does sending them: other work runs in between.
    if (row.length > BATCH_CHARACTERS) await setImmediate();
    if (messages.length === BATCH || characters > BATCH_CHARACTERS) await flush();
  }
  await flush();
  return last;
}

function messageRow(ids: Ids, message: StoredMessage) {
  const { seq, branch, role, type, turn, status, content, createdAt, completedAt, model } = message;
  return {
    id: ids.next<MessageId>(),
    seq,
    branch,
    role,
    type,
    turn,
    status,
    content,
    created_at: toTimestamp(createdAt),
    completed_at: toTimestamp(completedAt),
    ...(model === null
      ? {}
      : {
          model_id: plainText(model.modelId),
          provider_id: plainText(model.providerId),
          finish_reason: plainText(model.finishReason),
          ...model.usage,
          attempt: message.attempt,
          called_at: toTimestamp(message.calledAt),
          first_byte_at: toTimestamp(message.firstByteAt),
        }),
  };
}

async function insertMessages(tx: Executor, { tenantId, contextId }: Place, rows: string): Promise<void> {
  await tx.execute(sql`/* messages.import */
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, model_id, provider_id,
      input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_nanos, finish_reason, attempt, called_at,
      first_byte_at, created_at, completed_at)
    select r.id, ${tenantId}, ${contextId}::uuid, r.branch, r.seq, r.role, r.type, r.turn, r.status, r.content, r.model_id,
      r.provider_id, r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_nanos, r.finish_reason,
      r.attempt, r.called_at, r.first_byte_at, r.created_at, r.completed_at
    from json_to_recordset(${rows}::json) as r(
      id uuid, branch text, seq bigint, role text, type text, turn text, status text, content json, model_id text,
      provider_id text, input_tokens int, output_tokens int, cache_read_tokens int, cache_write_tokens int,
      cost_nanos bigint, finish_reason text, attempt int, called_at timestamptz, first_byte_at timestamptz, created_at timestamptz,
      completed_at timestamptz)`);
}

/** Also inserts its `ContextCompacted` event, with the same number. Its job id belongs to no stored job. */
async function insertCompaction(
  tx: Executor,
  ids: Ids,
  { tenantId, contextId }: Place,
  compaction: StoredCompaction,
): Promise<void> {
  const { seq, branch, uptoSeq, type, summary, model, tokensBefore, tokensAfter, createdAt } = compaction;
  const id = ids.next();
  const jobId = ids.next<JobId>();
  const at = toTimestamp(createdAt);
  const data = {
    compaction_id: id,
    branch,
    type,
    upto_seq: uptoSeq,
    tokens_before: tokensBefore,
    tokens_after: tokensAfter,
    job_id: jobId,
    model,
    usage: null,
    attempt: 1,
    started_at: at,
    first_token_at: null,
  };
  await tx.execute(sql`/* compactions.import */
    with made as (
      insert into compactions (id, tenant_id, context_id, branch, seq, upto_seq, type, summary, model, tokens_before,
        tokens_after, job_id, created_at)
      values (${id}, ${tenantId}, ${contextId}, ${branch}, ${seq}, ${uptoSeq}, ${type},
        ${summary === null ? null : encodeText(summary)}, ${model},
        ${tokensBefore}, ${tokensAfter}, ${jobId}, ${at}::timestamptz)
    )
    insert into events (context_id, tenant_id, seq, name, data, created_at)
    values (${contextId}, ${tenantId}, ${seq}, 'ContextCompacted', ${encodeJson(data)}::jsonb, ${at}::timestamptz)`);
}

/** Replaces the branches that the context was created with. */
async function insertBranches(
  tx: Executor,
  { tenantId, contextId }: Place,
  branches: readonly StoredBranch[],
): Promise<void> {
  const rows = branches.map(
    ({ name, parentName, forkSeq, spans, createdAt, messageCount, requestCount, usage }) => ({
      name,
      parent_name: parentName,
      fork_seq: forkSeq,
      spans,
      created_at: toTimestamp(createdAt),
      message_count: messageCount,
      request_count: requestCount,
      ...usage,
    }),
  );
  await tx.execute(
    sql`/* branches.delete_for_import */ delete from branches where context_id = ${contextId} and tenant_id = ${tenantId}`,
  );
  await tx.execute(sql`/* branches.import */
    insert into branches (context_id, tenant_id, name, parent_name, fork_seq, spans, message_count, request_count,
      input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_nanos, created_at)
    select ${contextId}::uuid, ${tenantId}, r.name, r.parent_name, r.fork_seq,
      case when jsonb_typeof(r.spans) = 'array' then r.spans end, r.message_count, r.request_count, r.input_tokens,
      r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_nanos, r.created_at
    from jsonb_to_recordset(${encodeJson(rows)}::jsonb) as r(
      name text, parent_name text, fork_seq bigint, spans jsonb, message_count bigint, request_count bigint,
      input_tokens bigint, output_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint,
      cost_nanos bigint, created_at timestamptz)`);
}
