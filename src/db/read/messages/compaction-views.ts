/** Compactions as the API returns them, including those that no longer apply. */
import { sql } from 'drizzle-orm';
import type { CompactorType } from '../../../core/compaction/type.ts';
import type { CompactionId, ContextId, JobId, TenantId } from '../../../core/ids.ts';
import type { Millis } from '../../../core/time.ts';
import type { Executor } from '../../connection/client.ts';
import { decodeText } from '../../connection/codec.ts';
import { millis } from '../../connection/instant.ts';
import { isCut, withinBytes, type OfPage, type Page, type PageRequest } from '../page.ts';

type CompactionView = {
  id: CompactionId;
  branch: string;
  seq: number;
  uptoSeq: number;
  type: CompactorType;
  summary: string | null;
  model: string | null;
  tokensBefore: number;
  tokensAfter: number;
  jobId: JobId;
  createdAt: Millis;
};

/**
 * Compactions with numbers above `after`, in order, within the page's byte limit. Null: the tenant has no such context.
 */
export async function listCompactions(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  { after, limit }: PageRequest<number>,
): Promise<Page<CompactionView> | null> {
  const page = sql`
    select k.* from contexts c left join lateral (
      select k.id, k.branch, k.seq, k.upto_seq as "uptoSeq", k.type, k.summary, k.model, k.tokens_before as "tokensBefore",
        k.tokens_after as "tokensAfter", k.job_id as "jobId", ${millis(sql`k.created_at`)} as "createdAt",
        coalesce(octet_length(k.summary), 0) as bytes
      from compactions k where k.context_id = c.id and k.tenant_id = c.tenant_id and k.seq > ${after}
      order by k.seq limit ${limit}) k on true
    where c.tenant_id = ${tenantId} and c.id = ${contextId}`;
  const rows = await executor.execute<OfPage & (CompactionView | { id: null })>(withinBytes(page, sql`p.seq`));
  if (rows.length === 0) return null;
  return { items: rows.flatMap((row) => (row.id === null ? [] : [toView(row)])), more: isCut(rows) };
}

function toView(row: CompactionView): CompactionView {
  return { ...row, summary: row.summary === null ? null : decodeText(row.summary) };
}
