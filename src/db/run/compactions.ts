/**
 * The compactions of a branch. A compaction made on another branch applies if this branch reads the span where it was
 * made and the messages that it covers. A summary that covers messages retracted by an interrupt is void; only the
 * interrupted job can have made such a summary.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { Compacted, NewCompaction, Shortening, Summary } from '../../core/compaction/compacted.ts';
import type { CompactorType } from '../../core/compaction/type.ts';
import { encodeText, plainText } from '../connection/codec.ts';
import { spansOf } from './spans.ts';

type Written = Omit<NewCompaction, 'id' | 'usage'> & { id: string };

/** The columns of a statement that stores a compaction, beside those of its context and its place. */
export const compactionColumns = {
  id: ({ id }: Written) => id,
  branch: ({ branch }: Written) => branch,
  uptoSeq: ({ uptoSeq }: Written) => uptoSeq,
  type: ({ type }: Written) => type,
  summary: ({ summary }: Written) => (summary === null ? null : encodeText(summary)),
  model: ({ model }: Written) => (model === null ? null : plainText(model)),
  tokensBefore: ({ tokensBefore }: Written) => tokensBefore,
  tokensAfter: ({ tokensAfter }: Written) => tokensAfter,
  jobId: ({ jobId }: Written) => jobId,
};

/** Columns that are selected together with a history. */
export type CompactedColumns = { summary: Summary | null; shortening: Shortening | null };

/** No compaction applies, as `k(upto, summary, shortening)`. */
export const WHOLE: SQL = sql`(select 0::bigint as upto, null::jsonb as summary, null::jsonb as shortening) k`;

/**
 * The compactions that apply to each `at(context_id, tenant, branch)`, as the same `k`; `upto` 0: no summary replaces
 * messages. `past`: only compactions up to this number of the context.
 */
export function applicableCompactions(past?: number): SQL {
  return sql`lateral (
    select coalesce((s.last ->> 'uptoSeq')::bigint, 0) as upto, s.last as summary, t.last as shortening
    from (select 1) one
      left join lateral (${last('llm', AT, past)}) s on true
      left join lateral (${last('threshold', AT, past)}) t on true
  ) k`;
}

/** What identifies a branch in SQL. */
type BranchColumns = { contextId: SQL; tenantId: SQL; branch: SQL };

const AT: BranchColumns = { contextId: sql`at.context_id`, tenantId: sql`at.tenant`, branch: sql`at.branch` };

/** The number up to which a summary replaces the messages of a branch; 0: there is none. */
export function summarisedUpto(contextId: SQL, tenantId: SQL, branch: SQL): SQL {
  return sql`coalesce((
    select (s.last ->> 'uptoSeq')::bigint from (${last('llm', { contextId, tenantId, branch })}) s), 0)`;
}

/** The last compaction of a type that applies to a branch. Its aliases must not clash with those of the callers. */
function last(type: CompactorType, { contextId, tenantId, branch }: BranchColumns, past?: number): SQL {
  const then = past === undefined ? sql`` : sql` and made.seq <= ${past}`;
  return sql`
    select jsonb_build_object('id', made.id, 'seq', made.seq, 'uptoSeq', made.upto_seq, 'jobId', made.job_id,
      'tokensAfter', case when made.branch = ${branch} then made.tokens_after end, 'text', made.summary) as last
    from (${spansOf(contextId, tenantId, branch)}) stretch
    join compactions made on made.context_id = ${contextId} and made.tenant_id = ${tenantId}
      and made.branch = stretch.branch and made.seq > stretch.after and made.upto_seq <= stretch.upto
    where made.type = ${sql.raw(`'${type}'`)}${then}
      and not exists (select 1 from jobs maker where maker.id = made.job_id and maker.status = 'interrupted'
        and maker.stop_mode <> 'keep' and made.upto_seq > maker.first_seq)
      and ${isCoveredWithin(sql`made`, spansOf(contextId, tenantId, branch))}
    order by made.seq desc limit 1`;
}

/**
 * Whether the last message that a compaction covers is in one of the stretches. A branch that reads that message reads
 * all messages before it. This check is needed because branch names can be reused: compactions of the new branch may
 * cover messages that readers of the old branch do not have.
 */
export function isCoveredWithin(made: SQL, stretches: SQL): SQL {
  return sql`exists (
    select 1 from messages summarised join (${stretches}) shown
      on summarised.branch = shown.branch and summarised.seq > shown.after and summarised.seq <= shown.upto
    where summarised.context_id = ${made}.context_id and summarised.tenant_id = ${made}.tenant_id
      and summarised.seq = ${made}.upto_seq)`;
}

export function toCompacted({ summary, shortening }: CompactedColumns): Compacted {
  return { summary, shortening };
}
