/** The inputs of a mailbox that wait to join the running job. */
import { sql, type SQL } from 'drizzle-orm';
import type { Block } from '../../../core/conversation/blocks.ts';
import type { ContextId, MessageId } from '../../../core/ids.ts';
import { LIMITS } from '../../../core/limits.ts';
import type { SteeredInput } from '../../../core/run/job.ts';
import { ReadLimitExceeded } from '../../connection/read-limit.ts';
import { byContext, type OfContext } from '../places.ts';

/**
 * `shared`: inputs may take at most `LIMITS.claimBytes` together, else reading rejects with `ReadLimitExceeded`.
 * `alone`: reads the next input, and of the inputs that wait to join the job the first one and as many more as fit in
 * `LIMITS.joiningBytes`.
 */
export type Reading = 'shared' | 'alone';

export type SteerRow = OfContext & { id: MessageId; content: Block[] | null };

/** Queued inputs that wait to join the active job, as `SteerRow`. */
export function steersOf(at: SQL, reading: Reading): SQL {
  const upto = sql`sum(m.bytes) over (order by m.id)`;
  const fits =
    reading === 'alone'
      ? sql`(${upto} <= ${sql.raw(String(LIMITS.joiningBytes))} or row_number() over (order by m.id) = 1)`
      : sql`${upto} <= ${sql.raw(String(LIMITS.claimBytes))}`;
  return sql`
    select m.context_id, m.id, case when ${fits} then m.content end as content from ${at} cross join lateral (
      select m.context_id, m.id, m.bytes, m.content from messages m join jobs j on j.id = m.job_id
      where at.steers > 0 and m.context_id = at.context_id and m.tenant_id = at.tenant and m.seq is null and m.status = 'queued'
        and j.status in ('running', 'waiting')) m`;
}

export function toSteers(rows: readonly SteerRow[], reading: Reading): Map<ContextId, SteeredInput[]> {
  if (reading === 'shared' && rows.some(({ content }) => content === null)) throw new ReadLimitExceeded();
  const inOrder = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return byContext(inOrder, ({ id, content }) => ({ messageId: id, content }));
}
