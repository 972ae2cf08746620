/** Fills a context that was created in the same transaction with imported entries. Numbers are those of the entries. */
import { setImmediate } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { ImportFormat } from '../../../core/stream/event.ts';
import type { Ids, JobId, MessageId } from '../../../core/ids.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { Executor } from '../../connection/client.ts';
import type { Counters, StoredCompaction, StoredContext, StoredMessage } from '../../read/messages/export.ts';
import { toTimestamp } from '../../connection/instant.ts';
import { recordEvent } from '../../run/events.ts';
import type { Place } from '../../run/places.ts';
import { encodeMessage, insertCompaction, insertMessages, replaceBranches } from './import-rows.ts';
import { leaveToSearch } from '../../search/search-index.ts';

/** Numbered from 1, without gaps. */
export type StoredEntry =
  | { kind: 'message'; message: StoredMessage }
  | { kind: 'compaction'; compaction: StoredCompaction };

export type Filling = {
  context: Pick<StoredContext, 'activeBranch' | 'turnCount' | 'createdAt' | 'branches' | keyof Counters>;
  /** Starts again from the first entry on each call, because a transaction may run again. */
  entries: () => AsyncIterable<StoredEntry>;
  eventData: { format: ImportFormat; kept: JsonObject | null };
};

/** Limits per statement: entries, and characters of their content. */
const BATCH = 500;
const BATCH_CHARACTERS = 2_000_000;

export async function fillContext(
  tx: Executor,
  ids: Ids,
  place: Place,
  { context, entries, eventData }: Filling,
): Promise<void> {
  const { tenantId, contextId } = place;
  const { last, bytes } = await insertEntries(tx, ids, place, entries());
  await replaceBranches(tx, place, context.branches);
  const { usage } = context;
  await tx.execute(sql`/* contexts.import */
    with ctx as (
      update contexts set head_seq = ${last + 1}, active_branch = ${context.activeBranch}, turn_count = ${context.turnCount},
        message_count = ${context.messageCount}, request_count = ${context.requestCount},
        input_tokens = ${usage.input_tokens}, output_tokens = ${usage.output_tokens},
        cache_read_tokens = ${usage.cache_read_tokens}, cache_write_tokens = ${usage.cache_write_tokens},
        cost_nanos = ${usage.cost_nanos}, stored_bytes = ${bytes}
      where id = ${contextId} and tenant_id = ${tenantId} returning id, tenant_id, head_seq, lease_epoch
    ), dated as (
      update workers w set created_at = ${toTimestamp(context.createdAt)}::timestamptz from ctx where w.context_id = ctx.id
    )
    ${recordEvent({ name: 'ContextImported', data: eventData })}`);
  await leaveToSearch(tx, tenantId, contextId);
}

/** `last`: the number of the last entry. `bytes`: those of the content of all messages. */
async function insertEntries(
  tx: Executor,
  ids: Ids,
  place: Place,
  entries: AsyncIterable<StoredEntry>,
): Promise<{ last: number; bytes: number }> {
  let last = 0;
  let bytes = 0;
  let messages: string[] = [];
  let characters = 0;
  const flush = async (): Promise<void> => {
    await insertMessages(tx, place, messages);
    messages = [];
    characters = 0;
  };
  for await (const entry of entries) {
    if (entry.kind === 'compaction') {
      await insertCompaction(tx, place, { ...entry.compaction, id: ids.next(), jobId: ids.next<JobId>() });
      last = entry.compaction.seq;
      continue;
    }
    const { row, bytes: added } = encodeMessage(ids.next<MessageId>(), entry.message);
    bytes += added;
    last = entry.message.seq;
    messages.push(row);
    characters += row.length;
    // Encoding megabytes of JSON blocks the event loop, and so does sending them: other work runs in between.
    if (row.length > BATCH_CHARACTERS) await setImmediate();
    if (messages.length === BATCH || characters > BATCH_CHARACTERS) await flush();
  }
  await flush();
  return { last, bytes };
}
