/** Adds a row to the outbox of webhooks if an append adds events which they may want. */
import { sql } from 'drizzle-orm';
import type { Append } from '../../../core/run/append.ts';
import { isNoticed } from '../../../core/webhooks/notices.ts';
import { webhookOutbox } from '../../schema/webhooks/webhooks.ts';
import { placedEntries } from './entries.ts';
import { insertion } from './part.ts';

/** The place of the last event, which numbers the row of all of them. */
function noticed({ lease, entries }: Append): { last: number }[] {
  if (!lease.notifies) return [];
  const events = placedEntries(entries).flatMap(({ entry, place }) =>
    entry.kind === 'event' ? [{ place, isNoticed: isNoticed(entry.event) }] : [],
  );
  const last = events.at(-1);
  return last === undefined || !events.some((event) => event.isNoticed) ? [] : [{ last: last.place }];
}

/** Whether it adds such a row. */
export function notifiesWebhooks(append: Append): boolean {
  return noticed(append).length > 0;
}

export const notified = insertion('notified', webhookOutbox, {
  of: noticed,
  inputs: { last: ['int', ({ last }) => last] },
  columns: { tenantId: sql`ctx.tenant_id`, contextId: sql`ctx.id`, seq: sql`ctx.base + r.last` },
});
