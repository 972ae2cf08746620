/**
 * The columns of a table that a statement writes, in one list for the names and the values. The table's definition gives
 * the types: a column that is misspelt, missing or of another type does not compile.
 */
import { getTableColumns, getTableName, is, sql, SQL } from 'drizzle-orm';
import { PgDialect, type PgColumn, type PgTable } from 'drizzle-orm/pg-core';
import type { Millis } from '../../core/time.ts';
import type { EncodedJson } from './encoded-json.ts';
import type { Field } from './recordset.ts';

/**
 * Where the value of a column comes from. A function: from the given row. SQL: computed by the statement. `as`: computed
 * from the given value and the stored value.
 */
type Source<Row, Value> =
  | ((row: Row) => Value)
  | SQL
  | { of: (row: Row) => Value | null; as: (given: SQL, stored: SQL) => SQL };

type Values<Table extends PgTable> = Table['$inferInsert'];
type InRow<Value> = Value extends Date ? Millis : Value extends object ? Value | EncodedJson<Value> : Value;

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
  const list = Object.entries(sources).flatMap(([key, source]) =>
    source === undefined ? [] : [writtenColumn(columnOf(table, key), source, names)],
  );
  return {
    fields: list.flatMap(({ field }) => field ?? []),
    insert: fixed(insertOf(table, list)),
    set: fixed(
      sql.join(
        list.map(({ name, value }) => sql`${sql.raw(name)} = ${value}`),
        sql`, `,
      ),
    ),
  };
}

type Named = { name: string; value: SQL };

function writtenColumn<Row>(
  column: PgColumn,
  source: Source<Row, unknown>,
  { given, stored = given }: Names,
): Named & { field?: Field<Row> } {
  const { name } = column;
  if (is(source, SQL)) return { name, value: source };
  const type = column.dataType === 'date' ? 'timestamptz' : column.getSQLType();
  const value = sql.raw(`${given}.${name}`);
  if (typeof source === 'function') return { name, value, field: { name, type, value: source } };
  return {
    name,
    value: source.as(value, sql.raw(`${stored}.${name}`)),
    field: { name, type, value: source.of },
  };
}

/** The types do not check the names of members that come from a spread object. */
function columnOf(table: PgTable, key: string): PgColumn {
  const column = getTableColumns(table)[key];
  if (column === undefined) throw new Error(`The table ${getTableName(table)} has no column ${key}.`);
  return column;
}

type Computed<Table extends PgTable> = { readonly [Name in keyof Values<Table>]: SQL };

/** The start of an insert of computed values: `insert into messages (id, …) select …`. */
export function insertInto<Table extends PgTable>(table: Table, values: Computed<Table>): SQL;
export function insertInto(table: PgTable, values: Readonly<Record<string, SQL | undefined>>): SQL {
  const list = Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [{ name: columnOf(table, key).name, value }],
  );
  return insertOf(table, list);
}

/** Columns that a statement copies from the alias `from` without change. */
export function copied<Table extends PgTable, Name extends keyof Values<Table>>(
  table: Table,
  from: string,
  names: readonly Name[],
): Record<Name, SQL>;
export function copied(table: PgTable, from: string, names: readonly string[]): Record<string, SQL> {
  return Object.fromEntries(names.map((key) => [key, sql.raw(`${from}.${columnOf(table, key).name}`)]));
}

function insertOf(table: PgTable, list: readonly Named[]): SQL {
  const names = list.map(({ name }) => name).join(', ');
  const values = sql.join(
    list.map(({ value }) => value),
    sql`, `,
  );
  return sql`insert into ${sql.raw(`${getTableName(table)} (${names})`)} select ${values}`;
}

const dialect = new PgDialect();

/** The text of a fragment without parameters. It is built once, and not with every statement that contains it. */
export function fixed(fragment: SQL): string {
  const { sql: text, params } = dialect.sqlToQuery(fragment);
  if (params.length > 0) throw new Error(`A fixed part of a statement has a parameter: ${text}`);
  return text;
}
