/** The events that an append adds. */
import { sql } from 'drizzle-orm';
import { events } from '../../schema/events.ts';
import { insertion } from './part.ts';
import { placedEntries } from './entries.ts';

export const newEvents = insertion('new_events', events, {
  of: ({ entries }) =>
    placedEntries(entries).flatMap(({ entry, place }) =>
      entry.kind === 'event' ? [{ event: entry.event, place }] : [],
    ),
  inputs: { place: ['int', ({ place }) => place] },
  columns: {
    contextId: sql`ctx.id`,
    tenantId: sql`ctx.tenant_id`,
    seq: sql`ctx.base + r.place`,
    name: ({ event }) => event.name,
    data: ({ event }) => event.data,
  },
});
