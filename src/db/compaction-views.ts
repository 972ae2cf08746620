/** Compactions as clients read them: also those that no longer hold. */
import { sql } from 'drizzle-orm';
import type { CompactorType } from '../core/compaction/type.ts';
import type { CompactionId, ContextId, JobId, TenantId } from '../core/ids.ts';
import type { Millis } from '../core/time.ts';
import type { Executor } from './client.ts';
import { decodeText } from './codec.ts';
import { millis } from './instant.ts';

export type CompactionView = {
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

/** In the order they were made, those after `after`. At most `limit`. Null: this tenant has no such context. */
export async function listCompactions(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  after: number,
  limit: number,
): Promise<CompactionView[] | null> {
  const rows = await executor.execute<CompactionView | { id: null }>(sql`
    select k.* from contexts c left join lateral (
      select k.id, k.branch, k.seq, k.upto_seq as "uptoSeq", k.type, k.summary, k.model, k.tokens_before as "tokensBefore",
        k.tokens_after as "tokensAfter", k.job_id as "jobId", ${millis(sql`k.created_at`)} as "createdAt"
      from compactions k where k.context_id = c.id and k.tenant_id = c.tenant_id and k.seq > ${after}
      order by k.seq limit ${limit}) k on true
    where c.tenant_id = ${tenantId} and c.id = ${contextId} order by k.seq`);
  if (rows.length === 0) return null;
  return rows.flatMap((row) =>
    row.id === null ? [] : [{ ...row, summary: row.summary === null ? null : decodeText(row.summary) }],
  );
}
