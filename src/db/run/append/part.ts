/**
 * A part of the append: the rows that appends give for one table, and the common table expression that writes them. In
 * its SQL, `r` is a given row and `ctx` the updated row of the append's context.
 */
import { getTableName, sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { ContextId } from '../../../core/ids.ts';
import { columns, recordset, type Columns, type Field } from '../../rows/recordset.ts';
import { fixed, written, type Changed, type Inserted } from '../../rows/written-columns.ts';
import type { EncodedAppend } from './contents.ts';

type Part = {
  /** Whether an append has rows for it. */
  isIn: (append: EncodedAppend) => boolean;
  cte: (appends: readonly EncodedAppend[]) => SQL;
};

/** `of`: the rows of an append. `inputs`: columns that only expressions use. */
type Rows<Row> = { of: (append: EncodedAppend) => readonly Row[]; inputs?: Columns<Row> };

/** `end`: follows the rows, such as `on conflict do nothing`. */
type Insertion<Table extends PgTable, Row> = Rows<Row> & { columns: Inserted<Table, Row>; end?: SQL };

export function insertion<Table extends PgTable, Row>(
  name: string,
  table: Table,
  { of, inputs = {}, columns: sources, end = sql`` }: Insertion<Table, Row>,
): Part {
  const { fields, insert } = written<Table, Row>(table, sources, { given: 'r' });
  const rows = joined(of, [...columns(inputs), ...fields], {
    before: `${name} as (${insert} from `,
    after: ` ${fixed(end)})`,
  });
  return { isIn: isIn(of), cte: rows };
}

type Update<Table extends PgTable, Row> = Rows<Row> & {
  /** The name of the table in expressions. */
  as: string;
  columns: Changed<Table, Row>;
  /** A further join of the given rows. */
  join?: SQL;
  where: SQL;
  returning?: SQL;
};

export function update<Table extends PgTable, Row>(
  name: string,
  table: Table,
  { of, inputs = {}, as, columns: sources, join = sql``, where, returning }: Update<Table, Row>,
): Part {
  const { fields, set } = written<Table, Row>(table, sources, { given: 'r', stored: as });
  const end = returning === undefined ? ')' : ` returning ${fixed(returning)})`;
  const before = `${name} as (update ${getTableName(table)} ${as} set ${set} from `;
  const all = [...columns(inputs), ...fields];
  const after = ` ${fixed(join)} where ${fixed(where)}${end}`;
  const cte = joined(of, all, { before, after });
  return { isIn: isIn(of), cte };
}

/** Rows of appends between fixed texts, joined with their contexts: an append whose guard failed has none. */
export function joined<Row>(
  of: (append: EncodedAppend) => readonly Row[],
  fields: readonly Field<Row>[],
  { before, after }: { before: string; after: string },
): (appends: readonly EncodedAppend[]) => SQL {
  type Of = { contextId: ContextId; row: Row };
  const rows = recordset<Of>('r', [
    ...columns<Of>({ ctx_id: ['uuid', ({ contextId }) => contextId] }),
    ...fields.map(({ value, ...field }) => ({ ...field, value: ({ row }: Of) => value(row) })),
  ]).between(before, ` join ctx on ctx.id = r.ctx_id${after}`);
  return (appends) =>
    rows(appends.flatMap((append) => of(append).map((row) => ({ contextId: append.lease.contextId, row }))));
}

function isIn(of: (append: EncodedAppend) => readonly unknown[]): (append: EncodedAppend) => boolean {
  return (append) => of(append).length > 0;
}
