/** Errors in a folder, which name the file; and readers of simple values. */
import type { Json } from '../../core/json.ts';
import { LATEST } from '../request/instant.ts';
import type { RequestRefused } from '../response/problem.ts';
import { wrong } from './parse.ts';

export type Files = { readonly [name: string]: Json };

export const METADATA = 'metadata.json';
export const INDEX = 'message_index.json';

/** `file`: empty for the folder itself. */
export function fault(file: string, what: string): RequestRefused {
  const name = file.length > 150 ? `${file.slice(0, 150)}…` : file;
  return file === '' ? wrong('files', `files ${what}.`) : wrong(`files.${name}`, `${name} ${what}.`);
}

/** Null where it is absent or null. Refuses text that a PostgreSQL text column cannot store. */
export function textOf(value: Json | undefined, file: string, member: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw fault(file, `has a ${member} that is not text`);
  if (!isPlain(value)) throw fault(file, `has a ${member} with NUL or an unpaired surrogate`);
  return value;
}

/** Whether a PostgreSQL text column can store the text. */
export function isPlain(text: string): boolean {
  return !/[\0\p{Cs}]/u.test(text);
}

/** A time: ISO 8601, or milliseconds. Null where it is absent or null. */
export function instantOf(value: Json | undefined, file: string, member: string): number | null {
  if (value === undefined || value === null) return null;
  const time = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (!(time >= 0 && time <= LATEST))
    throw fault(file, `has a ${member} that is not a time: write ISO 8601 or milliseconds since 1970`);
  return Math.floor(time);
}
