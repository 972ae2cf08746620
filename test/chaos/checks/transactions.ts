// The row of a transactional call and its success exist together, once: one row of each call that is reported as done, none
// of another one. A run in which no call committed tests nothing.
import type { SaleCall, Sales } from '../world/service.ts';
import { groupBy, type Check, type Violation } from '../world/world.ts';
import { reporter } from './violation.ts';

const violation = reporter('transactions');

export const transactions: Check = {
  name: 'transactions',
  find({ service: { sales } }) {
    const rowsOf = groupBy(sales.rows, (id) => id);
    const known = new Set(sales.calls.map(({ id }) => id));
    return [
      ...nothingHappened(sales),
      ...[...rowsOf.keys()].filter((id) => !known.has(id)).map((id) => violation('a row of no call', null, id)),
      ...sales.calls.flatMap((call) => callFaults(call, rowsOf.get(call.id)?.length ?? 0)),
    ];
  },
};

function nothingHappened({ rows }: Sales): Violation[] {
  return rows.length === 0 ? [violation('no transactional call committed', null)] : [];
}

function callFaults({ id, contextId, status, fails, reported }: SaleCall, rows: number): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(violation(what, contextId, id));
  const wanted = status === 'completed' ? 1 : 0;
  if (rows !== wanted) note(`it is ${status}, and has ${rows} rows`);
  if (rows > 0 && fails) note('it has failed, and has a row');
  if (rows > 0 && !reported) note('it has a row, and neither a result nor a note');
  return faults;
}
