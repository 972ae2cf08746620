/**
 * Rows that a statement takes as one JSON parameter and reads as a table, so that its text does not depend on them and is
 * prepared once. The table has type `json` if one of its columns has it: `jsonb` would not keep the text of that column.
 */
import { StringChunk, sql, type Placeholder, type SQL } from 'drizzle-orm';
import type { Millis } from '../../core/time.ts';
import { encodeJson, needsMark, plainText } from '../connection/codec.ts';
import { toTimestamp } from '../connection/instant.ts';
import { EncodedJson } from './encoded-json.ts';

/** What a row gives for each SQL type. */
type Given = {
  uuid: string;
  text: string;
  int: number;
  bigint: number;
  boolean: boolean;
  timestamptz: Millis;
  json: unknown;
  jsonb: unknown;
};

/** Columns by name: the SQL type, and the value in a row. */
export type Columns<Row> = Readonly<
  Record<string, { [Type in keyof Given]: readonly [Type, (row: Row) => Given[Type] | null] }[keyof Given]>
>;

/** A column of a recordset. A value of null or undefined is null in SQL; an `EncodedJson` is not encoded again. */
export type Field<Row> = { name: string; type: string; value: (row: Row) => unknown };

export function columns<Row>(of: Columns<Row>): Field<Row>[] {
  return Object.entries(of).map(([name, [type, value]]) => ({ name, type, value }));
}

type Recordset<Row> = {
  /** The rows as a table, under the name of the recordset. */
  table: (rows: readonly Row[]) => SQL;
  /** The same, of rows that were encoded one by one. */
  tableOf: (encoded: readonly string[]) => SQL;
  encode: (row: Row) => string;
  encodeAll: (rows: readonly Row[]) => string;
  /** The same table, between fixed texts of a statement. */
  between: (before: string, after: string) => (rows: readonly Row[]) => SQL;
  /** The same, of the JSON of all rows. */
  around: (before: string, after: string) => (json: string | Placeholder) => SQL;
};

export function recordset<Row>(name: string, fields: readonly Field<Row>[]): Recordset<Row> {
  const json = fields.some(({ type }) => type === 'json') ? 'json' : 'jsonb';
  const list = fields.map((field) => `${field.name} ${field.type}`).join(', ');
  const around: Recordset<Row>['around'] = (before, after) => {
    const opening = new StringChunk(`${before}${json}_to_recordset(`);
    const closing = new StringChunk(`::${json}) as ${name}(${list})${after}`);
    return (text) => sql`${opening}${text}${closing}`;
  };
  const alone = around('', '');
  const encode = (row: Row): string => encodeRow(fields, row);
  const encodeAll = (rows: readonly Row[]): string => jsonArray(rows.map(encode));
  return {
    table: (rows) => alone(encodeAll(rows)),
    tableOf: (encoded) => alone(jsonArray(encoded)),
    encode,
    encodeAll,
    around,
    between: (before, after) => {
      const fixed = around(before, after);
      return (rows) => fixed(encodeAll(rows));
    },
  };
}

/** Of rows that were encoded one by one. */
export function jsonArray(encoded: readonly string[]): string {
  return `[${encoded.join(',')}]`;
}

function encodeRow<Row>(fields: readonly Field<Row>[], row: Row): string {
  const members: Record<string, unknown> = {};
  let encoded = '';
  for (const { name, type, value } of fields) {
    const given = value(row) ?? null;
    if (given === null) continue;
    if (given instanceof EncodedJson) encoded += `,"${name}":${given.text}`;
    else members[name] = type === 'timestamptz' && typeof given === 'number' ? toTimestamp(given) : given;
  }
  const text = encodeMembers(fields, members);
  if (encoded === '') return text;
  return text === '{}' ? `{${encoded.slice(1)}}` : `${text.slice(0, -1)}${encoded}}`;
}

/** Only JSON is encoded (see codec.ts): a column of text gets its text. */
function encodeMembers<Row>(fields: readonly Field<Row>[], members: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(members);
  if (!needsMark(text)) return text;
  const encoded = fields.flatMap(({ name, type }) => {
    const value = members[name];
    return value === undefined ? [] : `"${name}":${encodeMember(type, value)}`;
  });
  return `{${encoded.join(',')}}`;
}

function encodeMember(type: string, value: unknown): string {
  if (type !== 'text' || typeof value !== 'string') return encodeJson(value);
  return JSON.stringify(plainText(value.toWellFormed()));
}
