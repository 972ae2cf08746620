/**
 * Converts JSON to and from jsonb. PostgreSQL rejects NUL and lone surrogates in jsonb, but tool output contains them.
 * Each is stored as a private-use mark followed by four hex digits, and so is the mark itself. Decoding restores the
 * original text.
 */
import { sql, type SQL } from 'drizzle-orm';

const MARK = '\uF8FE';
const NEEDS_MARK = /\\u0000|\\ud[89a-f]|\uF8FE/;
/** Matches whole escapes of a JSON text, so that an escaped backslash is not read as the start of the next escape. */
const ESCAPES = /\\(?:u(0000|d[89a-f][0-9a-f]{2})|[^])|\uF8FE/g;
const MARKED = /\uF8FE([0-9a-f]{4})/g;

/** PostgreSQL pattern for a stored replacement of a character that PostgreSQL cannot store. */
export const STORED_MARK = `${MARK}[0-9a-f]{4}`;

/** A text column as a member of JSON that `decodeJson` reads. */
export function textInJson(column: SQL): SQL {
  return sql`replace(${column}, ${sql.raw(`'${MARK}'`)}, ${sql.raw(`'${MARK}f8fe'`)})`;
}

/** Whether a JSON text contains characters that must be encoded. */
export function needsMark(json: string): boolean {
  return NEEDS_MARK.test(json);
}

/** JSON text that jsonb accepts. `JSON.stringify` escapes lone surrogates and leaves pairs unchanged. */
export function encodeJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!needsMark(text)) return text;
  return text.replace(ESCAPES, (escape: string, code: string | undefined) => {
    if (escape === MARK) return `${MARK}f8fe`;
    return code === undefined ? escape : `${MARK}${code}`;
  });
}

/** The value of a jsonb text, as the driver returns it. */
export function decodeJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return text.includes(MARK) ? unmark(value) : value;
}

function unmark(value: unknown): unknown {
  if (typeof value === 'string') return unmarkText(value);
  if (Array.isArray(value)) return value.map(unmark);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [unmarkText(key), unmark(member)]));
}

function unmarkText(text: string): string {
  return text.replace(MARKED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** Encodes text for a text column so that it can be restored exactly. */
export function encodeText(text: string): string {
  return text.replace(/[\0\uF8FE]|\p{Cs}/gu, (char) => MARK + char.charCodeAt(0).toString(16).padStart(4, '0'));
}

export function decodeText(text: string): string {
  return unmarkText(text);
}

/** For text columns with text from outside: PostgreSQL rejects NUL, so it becomes U+FFFD. */
export function plainText(text: string): string {
  return text.replaceAll('\0', '\u{FFFD}');
}
