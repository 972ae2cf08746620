/**
 * What a tool reported, as it is kept: a tool may pass anything, of any size. Texts are cut; characters that PostgreSQL
 * cannot store are left to the statement.
 */
import { isJsonObject, isTooDeep, type Json, type JsonObject } from '../../core/json.ts';
import type { CallProgress } from '../../core/tools/report.ts';
import { textOf } from './json-text.ts';
import { headOf } from './truncate.ts';

/** Maximum characters of the message of an entry, and of progress. */
const LONGEST_MESSAGE = 2_000;
const LONGEST_PROGRESS = 500;

/** Maximum bytes of the fields of an entry, as JSON. */
const MOST_FIELD_BYTES = 4_000;

const UNREADABLE = '[a value that cannot be converted to text]';

/** The message of a log entry. Never throws. */
export function messageOf(given: unknown): string {
  return cut(messageText(given), LONGEST_MESSAGE);
}

/** The same, of any length. Never throws. */
export function messageText(given: unknown): string {
  try {
    return given instanceof Error ? `${given.name}: ${given.message}` : textOf(given);
  } catch {
    return UNREADABLE;
  }
}

/** The fields of a log entry, and their size in bytes. Fields that are not kept leave a note. Never throws. */
export function fieldsOf(given: unknown): { fields: JsonObject | null; bytes: number } {
  if (given === undefined || given === null) return { fields: null, bytes: 0 };
  const { fields, bytes } = readFields(given);
  const why = fields === null ? 'no JSON object' : bytes > MOST_FIELD_BYTES ? `${bytes} bytes` : null;
  if (why === null) return { fields, bytes };
  const note = { omitted: `The fields were left out: ${why}. At most ${MOST_FIELD_BYTES} bytes of JSON are kept.` };
  return { fields: note, bytes: note.omitted.length };
}

/** `fields` null: it is no object that JSON can express. */
function readFields(given: unknown): { fields: JsonObject | null; bytes: number } {
  try {
    const text = textOf(given instanceof Error ? { error: given } : given);
    const bytes = Buffer.byteLength(text);
    if (bytes > MOST_FIELD_BYTES) return { fields: {}, bytes };
    const value: Json = JSON.parse(text);
    return { fields: isJsonObject(value) && !isTooDeep(value) ? value : null, bytes };
  } catch {
    return { fields: null, bytes: 0 };
  }
}

/** Null: there is nothing in it. Never throws. */
export function progressOf(given: unknown): Omit<CallProgress, 'at'> | null {
  try {
    if (typeof given === 'string') return { message: cut(given, LONGEST_PROGRESS), done: null, total: null };
    if (typeof given !== 'object' || given === null) return null;
    const message = 'message' in given && typeof given.message === 'string' ? given.message : null;
    const done = 'done' in given ? numberOf(given.done) : null;
    const total = 'total' in given ? numberOf(given.total) : null;
    if (message === null && done === null && total === null) return null;
    return { message: message === null ? null : cut(message, LONGEST_PROGRESS), done, total };
  } catch {
    return null;
  }
}

function numberOf(given: unknown): number | null {
  return typeof given === 'number' && Number.isFinite(given) ? given : null;
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${headOf(text, limit - 1)}…`;
}
