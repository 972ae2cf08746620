/** Contexts that a process does not support, and passes by until one of their counters changes. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId } from '../../core/ids.ts';
import { columns, recordset } from '../rows/recordset.ts';

/** A context with its counters. */
export type Passed = { contextId: ContextId; wakeSeq: number; controlSeq: number };

const PASSED = recordset(
  'p',
  columns<Passed>({
    context_id: ['uuid', ({ contextId }) => contextId],
    wake_seq: ['bigint', ({ wakeSeq }) => wakeSeq],
    control_seq: ['bigint', ({ controlSeq }) => controlSeq],
  }),
);

/** Whether `c` is one of them, unchanged. */
export function isPassedBy(passed: readonly Passed[]): SQL {
  return sql`exists (select 1 from ${PASSED.table(passed)}
    where p.context_id = c.id and p.wake_seq = c.wake_seq and p.control_seq = c.control_seq)`;
}
