/**
 * The columns of a table that a statement writes, in one list for the names and the values. The table's definition gives
 * the types: a column that is misspelt, missing or of another type does not compile.
 */
import { getTableColumns, getTableName, is, sql, SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Millis } from '../../core/time.ts';
import type { Field } from './recordset.ts';

/**
 * Where the value of a column comes from. A function: from the given row. SQL: computed by the statement. `as`: computed
 * from the given value and the stored value.
 */
export type Source<Row, Value> =
  | ((row: Row) => Value)
  | SQL
  | { of: (row: Row) => Value | null; as: (given: SQL, stored: SQL) => SQL };

type Values<Table extends PgTable> = Table['$inferInsert'];
type InRow<Value> = Value extends Date ? Millis : Value;

/** For an insert: has every column that has no default. */
export type Inserted<Table extends PgTable, Row> = {
  readonly [Name in keyof Values<Table>]: Source<Row, InRow<Exclude<Values<Table>[Name], undefined>>>;
};

/** For an update. */
export type Changed<Table extends PgTable, Row> = Partial<Inserted<Table, Row>>;

type Sources<Row> = Readonly<Record<string, Source<Row, unknown> | undefined>>;

/** `given`: the name of the recordset. `stored`: the name of the table in an update. */
type Names = { given: string; stored?: string };

type Written<Row> = {
  /** The columns that the given rows need for it. */
  fields: Field<Row>[];
  /** `insert into messages (id, …) select r.id, …` */
  insert: string;
  /** `status = r.status, …` */
  set: string;
};

export function written<Table extends PgTable, Row>(
  table: Table,
  sources: Changed<Table, Row>,
  names: Names,
): Written<Row>;
export function written<Row>(table: PgTable, sources: Sources<Row>, names: Names): Written<Row> {
  const { given, stored = given } = names;
  const known = getTableColumns(table);
  const fields: Field<Row>[] = [];
  const values: Record<string, SQL> = {};
  for (const [key, source] of Object.entries(sources)) {
    const column = known[key];
    if (source === undefined || column === undefined) continue;
    const { name } = column;
    const isPlain = typeof source === 'function';
    if (is(source, SQL)) {
      values[name] = source;
      continue;
    }
    const type = column.dataType === 'date' ? 'timestamptz' : column.getSQLType();
    fields.push({ name, type, value: isPlain ? source : source.of });
    const value = sql.raw(`${given}.${name}`);
    values[name] = isPlain ? value : source.as(value, sql.raw(`${stored}.${name}`));
  }
  const set = Object.entries(values).map(([name, value]) => sql`${sql.raw(name)} = ${value}`);
  return { fields, insert: fixed(insertOf(table, values)), set: fixed(sql.join(set, sql`, `)) };
}

/** The start of an insert of computed values: `insert into messages (id, …) select …`. */
export function insertInto<Table extends PgTable>(table: Table, values: Computed<Table>): SQL;
export function insertInto(table: PgTable, values: Readonly<Record<string, SQL | undefined>>): SQL {
  const known = getTableColumns(table);
  const named = Object.entries(values).flatMap(([key, value]) => {
    const name = known[key]?.name;
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return insertOf(table, Object.fromEntries(named));
}

/** Columns that a statement copies from the alias `from` without change. */
export function copied<Table extends PgTable, Name extends keyof Values<Table>>(
  table: Table,
  from: string,
  names: readonly Name[],
): Record<Name, SQL>;
export function copied(table: PgTable, from: string, names: readonly string[]): Record<string, SQL> {
  const known = getTableColumns(table);
  return Object.fromEntries(names.map((key) => [key, sql.raw(`${from}.${known[key]?.name ?? key}`)]));
}

type Computed<Table extends PgTable> = { readonly [Name in keyof Values<Table>]: SQL };

function insertOf(table: PgTable, values: Readonly<Record<string, SQL>>): SQL {
  const names = sql.raw(`${getTableName(table)} (${Object.keys(values).join(', ')})`);
  return sql`insert into ${names} select ${sql.join(Object.values(values), sql`, `)}`;
}

const dialect = new PgDialect();

/** The text of a fragment without parameters. It is built once, and not with every statement that contains it. */
export function fixed(fragment: SQL): string {
  const { sql: text, params } = dialect.sqlToQuery(fragment);
  if (params.length > 0) throw new Error(`A fixed part of a statement has a parameter: ${text}`);
  return text;
}
