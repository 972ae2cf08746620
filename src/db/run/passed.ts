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

/**
 * Whether `c` is one of them, unchanged. With `in`, each context is looked up in a hash of them; as a join, which `exists`
 * becomes, the planner expects a hundred comparisons for each, and may read and sort all contexts to avoid them.
 */
export function isPassedBy(passed: readonly Passed[]): SQL {
  return sql`((c.id, c.wake_seq, c.control_seq) in (
    select p.context_id, p.wake_seq, p.control_seq from ${PASSED.table(passed)}))`;
}
