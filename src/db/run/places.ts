/** Contexts as statements read them, and rows by context. */
import { MAIN } from '../../core/conversation/branch.ts';
import type { ContextId } from '../../core/ids.ts';
import type { Lease } from '../../core/run/snapshot.ts';
import { columns, recordset } from '../rows/recordset.ts';

/** A context and its tenant. */
export type Place = Pick<Lease, 'contextId' | 'tenantId'>;

/** The branch that a statement reads; `steers`: inputs that wait to join the running job. */
type ReadPlace = Place & { branch?: string; steers?: number };

/**
 * The contexts that a statement reads, as the table `at(context_id, tenant, branch, steers)`. The planner then looks up
 * each context separately, whatever its table statistics.
 */
export const places = recordset(
  'at',
  columns<ReadPlace>({
    context_id: ['uuid', ({ contextId }) => contextId],
    tenant: ['bigint', ({ tenantId }) => tenantId],
    branch: ['text', ({ branch }) => branch ?? MAIN],
    steers: ['int', ({ steers }) => steers ?? 0],
  }),
).table;

export type OfContext = { context_id: ContextId };

/** Keeps the order of `rows`. */
export function byContext<Row extends OfContext, Value>(
  rows: readonly Row[],
  parse: (row: Row) => Value,
): Map<ContextId, Value[]> {
  const groups = new Map<ContextId, Value[]>();
  for (const row of rows) {
    const group = groups.get(row.context_id);
    if (group === undefined) groups.set(row.context_id, [parse(row)]);
    else group.push(parse(row));
  }
  return groups;
}
