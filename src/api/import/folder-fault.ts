/** What is wrong in a folder is told by the name of the file that is; and its plainest values. */
import type { Json } from '../../core/json.ts';
import type { RequestRefused } from '../problem.ts';
import { wrong } from './parse.ts';

export type Files = { readonly [name: string]: Json };

const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** `file`: empty for the folder itself. */
export function fault(file: string, what: string): RequestRefused {
  const name = file.length > 150 ? `${file.slice(0, 150)}…` : file;
  return file === '' ? wrong('files', `files ${what}.`) : wrong(`files.${name}`, `${name} ${what}.`);
}

/** Null where it is absent or null. What cannot be kept outside JSON is refused. */
export function textOf(value: Json | undefined, file: string, member: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw fault(file, `has no text for ${member}`);
  if (!isPlain(value)) throw fault(file, `has a ${member} that holds NUL or half of a surrogate pair`);
  return value;
}

/** Whether a text can be kept outside JSON. */
export function isPlain(text: string): boolean {
  return !/[\0\p{Cs}]/u.test(text);
}

/** A time: ISO 8601, or milliseconds. Null where it is absent or null. */
export function instantOf(value: Json | undefined, file: string, member: string): number | null {
  if (value === undefined || value === null) return null;
  const time = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (!(time >= 0 && time <= LATEST)) throw fault(file, `has no time for ${member}`);
  return Math.floor(time);
}
