/** The events that an append adds: one row. */
import { sql } from 'drizzle-orm';
import type { Append } from '../../../core/run/append.ts';
import { eventBatches, type BatchedEvent } from '../../schema/events.ts';
import { insertion } from './part.ts';
import { placedEntries } from './entries.ts';

/** `first`, `last`: the places of the first and the last event. */
type AddedEvents = { first: number; last: number; events: BatchedEvent[] };

function addedEvents({ entries }: Append): AddedEvents[] {
  const placed = placedEntries(entries).flatMap(({ entry, place }) =>
    entry.kind === 'event' ? [{ ...entry.event, place }] : [],
  );
  const [first, last] = [placed.at(0), placed.at(-1)];
  if (first === undefined || last === undefined) return [];
  const events = placed.map(({ place, name, data }): BatchedEvent => [place - first.place, name, data]);
  return [{ first: first.place, last: last.place, events }];
}

export const newEvents = insertion('new_events', eventBatches, {
  of: addedEvents,
  inputs: { first: ['int', ({ first }) => first], last: ['int', ({ last }) => last] },
  columns: {
    contextId: sql`ctx.id`,
    tenantId: sql`ctx.tenant_id`,
    firstSeq: sql`ctx.base + r.first`,
    seq: sql`ctx.base + r.last`,
    epoch: sql`ctx.lease_epoch`,
    events: ({ events }) => events,
    createdAt: sql`statement_timestamp()`,
  },
});
