/** Writes and reads events. One row holds all events that a transaction adds (docs/decisions/0027-event-batches.md). */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextEvent } from '../../core/stream/event.ts';
import { encodeJson } from '../connection/codec.ts';
import { insertInto } from '../rows/written-columns.ts';
import { eventBatches, type BatchedEvent } from '../schema/events.ts';

/** `first`, `last`: numbers. `events`: JSON of `BatchedEvent[]`. `from`: `ctx`, the updated row of the context. */
type Batch = { first: SQL; last: SQL; events: SQL; from?: SQL };

/** The statement that adds events. */
export function recordEvents({ first, last, events, from = sql`ctx` }: Batch): SQL {
  return sql`${insertInto(eventBatches, {
    contextId: sql`ctx.id`,
    tenantId: sql`ctx.tenant_id`,
    firstSeq: first,
    seq: last,
    epoch: sql`ctx.lease_epoch`,
    events,
  })} from ${from}`;
}

/** The same for one event, under the new head of the context. */
export function recordEvent(event: ContextEvent, from?: SQL): SQL {
  const head = sql`ctx.head_seq`;
  return recordEvents({ first: head, last: head, events: consecutive(event), ...(from === undefined ? {} : { from }) });
}

/** Events with consecutive numbers, as JSON. */
export function consecutive(...events: readonly ContextEvent[]): SQL {
  return sql`${encodeJson(events.map(({ name, data }, offset): BatchedEvent => [offset, name, data]))}::json`;
}

/** The event with a number, of the view `events`: two lookups in the primary key. */
export function eventAt(contextId: SQL, seq: SQL): SQL {
  return sql`(
    select e.* from events e where e.context_id = ${contextId} and e.seq = ${seq} and e.batch = (
      select b.seq from event_batches b where b.context_id = ${contextId} and b.seq >= ${seq} order by b.seq limit 1))`;
}
