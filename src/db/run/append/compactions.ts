/** The compaction of an append, at the place of its `ContextCompacted` event. */
import { sql } from 'drizzle-orm';
import type { Append } from '../../../core/run/append.ts';
import { encodeText, plainText } from '../../connection/codec.ts';
import { compactions } from '../../schema/compactions.ts';
import { insertion } from './part.ts';

function compactionsOf({ entries, compaction }: Append) {
  if (compaction === null) return [];
  const index = entries.findIndex(
    (entry) => entry.kind === 'event' && entry.event.name === 'ContextCompacted',
  );
  return [{ ...compaction, place: index + 1 }];
}

export const newCompactions = insertion('new_compactions', compactions, {
  of: compactionsOf,
  inputs: { place: ['int', ({ place }) => place] },
  columns: {
    id: ({ id }) => id,
    tenantId: sql`ctx.tenant_id`,
    contextId: sql`ctx.id`,
    branch: ({ branch }) => branch,
    seq: sql`ctx.base + r.place`,
    uptoSeq: ({ uptoSeq }) => uptoSeq,
    type: ({ type }) => type,
    summary: ({ summary }) => (summary === null ? null : encodeText(summary)),
    model: ({ model }) => (model === null ? null : plainText(model)),
    tokensBefore: ({ tokensBefore }) => tokensBefore,
    tokensAfter: ({ tokensAfter }) => tokensAfter,
    jobId: ({ jobId }) => jobId,
  },
});
