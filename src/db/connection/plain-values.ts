/**
 * How statements of tools send and read values. Every parameter is text: the driver would otherwise convert a text for a
 * boolean, a date or JSON to something else.
 */
import type { SqlParameter } from '../../core/tools/transaction.ts';

const asItIs = (text: string): string => text;

/** Of the types that the driver converts by itself. Others are text in both directions. */
export const PLAIN_VALUES = {
  number: {
    to: 23,
    from: [21, 23, 26, 700, 701],
    parse: Number,
    serialize: asItIs,
  },
  boolean: { to: 16, from: [16], parse: (text: string): boolean => text === 't', serialize: asItIs },
  json: { to: 114, from: [114, 3802], parse: (text: string): unknown => JSON.parse(text), serialize: asItIs },
  date: { to: 1184, from: [1082, 1114, 1184], parse: asItIs, serialize: asItIs },
  bytes: { to: 17, from: [17], parse: asItIs, serialize: asItIs },
};

/** Throws TypeError for a value that PostgreSQL cannot get. */
export function toText(value: SqlParameter): string | null {
  return value === null ? null : ofValue(value);
}

function ofValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'object' && value !== null) return ofObject(value);
  throw new TypeError(`A parameter of a statement is of the type ${typeof value}. Use null for nothing.`);
}

function ofObject(value: object): string {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return Array.isArray(value) ? listText(value) : JSON.stringify(value);
}

/** An array of PostgreSQL. */
function listText(list: readonly unknown[]): string {
  return `{${list.map((item) => itemText(item)).join(',')}}`;
}

function itemText(item: unknown): string {
  if (item === null) return 'NULL';
  if (Array.isArray(item)) return listText(item);
  return `"${ofValue(item).replaceAll(/["\\]/g, '\\$&')}"`;
}
