/** The inputs of a mailbox that wait to join the running job. */
import { sql, type SQL } from 'drizzle-orm';
import type { Block } from '../../../core/conversation/blocks.ts';
import type { ContextId, MessageId } from '../../../core/ids.ts';
import { LIMITS } from '../../../core/limits.ts';
import type { SteeredInput } from '../../../core/run/job.ts';
import { byContext, type OfContext } from '../places.ts';

/**
 * `shared`: reads the smallest inputs, as many as fit in `LIMITS.sharedBytes`. `alone`: reads the next input, and of the
 * inputs that wait to join the job the first one and as many more as fit in `LIMITS.joiningBytes`.
 */
export type Reading = 'shared' | 'alone';

export type SteerRow = OfContext & { id: MessageId; content: Block[] | null };

/** Queued inputs that wait to join the active job, as `SteerRow`: of the inputs of its branch, none of its history. */
export function steersOf(at: SQL, reading: Reading): SQL {
  const fits =
    reading === 'alone'
      ? sql`(sum(m.bytes) over (order by m.id) <= ${sql.raw(String(LIMITS.joiningBytes))}
          or row_number() over (order by m.id) = 1)`
      : fitsShared(sql`m.id`);
  return sql`
    select m.context_id, m.id, case when ${fits} then m.content end as content from ${at} cross join lateral (
      select m.context_id, m.id, m.bytes, m.content
      from jobs j join messages m on m.context_id = j.context_id and m.branch = j.branch and m.job_id = j.id
      where at.steers > 0 and j.context_id = at.context_id and j.status in ('running', 'waiting')
        and m.tenant_id = at.tenant and m.seq is null and m.status = 'queued') m`;
}

/** Whether the message `m` is among the smallest of all rows that fit. `id`: of the row. */
export function fitsShared(id: SQL): SQL {
  return sql`sum(m.bytes) over (order by m.bytes, ${id}) <= ${sql.raw(String(LIMITS.sharedBytes))}`;
}

export function toSteers(rows: readonly SteerRow[]): Map<ContextId, SteeredInput[]> {
  const inOrder = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return byContext(inOrder, ({ id, content }) => ({ messageId: id, content }));
}
