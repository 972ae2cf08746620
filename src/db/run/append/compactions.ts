/** The compaction of an append, at the place of its `ContextCompacted` event. */
import { sql } from 'drizzle-orm';
import type { Append } from '../../../core/run/append.ts';
import { compactions } from '../../schema/compactions.ts';
import { compactionColumns } from '../compactions.ts';
import { insertion } from './part.ts';

function compactionsOf({ entries, compaction }: Append) {
  if (compaction === null) return [];
  const index = entries.findIndex((entry) => entry.kind === 'event' && entry.event.name === 'ContextCompacted');
  return [{ ...compaction, place: index + 1 }];
}

export const newCompactions = insertion('new_compactions', compactions, {
  of: compactionsOf,
  inputs: { place: ['int', ({ place }) => place] },
  columns: {
    tenantId: sql`ctx.tenant_id`,
    contextId: sql`ctx.id`,
    ...compactionColumns,
    seq: sql`ctx.base + r.place`,
  },
});
