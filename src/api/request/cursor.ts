/**
 * Cursors of lists. A cursor is opaque to clients and holds the key of the last item of a page, so inserts between two
 * pages neither repeat nor hide an item. Each list declares the members of its key. A cursor with members of another
 * type or out of the range of the database is refused before it reaches a statement.
 */
import { BRANCH_NAME } from '../../core/conversation/branch.ts';
import { parseId } from '../../core/ids.ts';
import type { Millis } from '../../core/time.ts';
import { LATEST } from './instant.ts';
import { invalid, type RequestRefused } from '../response/problem.ts';

/** Returns the typed value, or undefined if the value is not valid. */
type Member<Value> = (value: unknown) => Value | undefined;

type Members = readonly Member<unknown>[];

type KeyOf<Given extends Members> = {
  [Index in keyof Given]: Given[Index] extends Member<infer Value> ? Value : never;
};

type Cursor<Key> = {
  write(key: Key): string;
  /** Null where no cursor was given. Throws `RequestRefused` for a cursor that is not of this list. */
  read(cursor: string | undefined): Key | null;
};

export function cursorOf<const Given extends Members>(...members: Given): Cursor<KeyOf<Given>> {
  const key = inOrder(...members);
  return {
    write: (values) => Buffer.from(JSON.stringify(values)).toString('base64url'),
    read(cursor) {
      if (cursor === undefined) return null;
      const values = key(parse(cursor));
      if (values === undefined) throw refusedCursor();
      return values;
    },
  };
}

export function refusedCursor(): RequestRefused {
  return invalid(
    'cursor is not valid for this list. Use next_cursor of the previous page, with the same filters.',
    'cursor',
  );
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}

/** Exactly these members, in this order. */
export function inOrder<const Given extends Members>(...members: Given): Member<KeyOf<Given>> {
  return (value) => {
    if (!Array.isArray(value) || value.length !== members.length) return undefined;
    const read = members.map((member, at) => member(value[at]));
    return read.includes(undefined) ? undefined : (read as KeyOf<Given>);
  };
}

export function orNull<Value>(member: Member<Value>): Member<Value | null> {
  return (value) => (value === null ? null : member(value));
}

export function id<Id extends string>(value: unknown): Id | undefined {
  return typeof value === 'string' ? ((parseId(value) ?? undefined) as Id | undefined) : undefined;
}

/** A count, or the number of a message or an event. */
export const count: Member<number> = (value) => (Number(whole(value)) >= 0 ? whole(value) : undefined);

/** The number of a turn: an `integer` of the database, from 1. */
export const ordinal: Member<number> = (value) => (Number(small(value)) >= 1 ? small(value) : undefined);

/** A position in a queue: a `bigint` within the safe integers of JavaScript. */
export const whole: Member<number> = (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;

/** An `integer` of the database. */
export const small: Member<number> = (value) =>
  typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : undefined;

/** A `double precision` of the database. */
export const real: Member<number> = (value) =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** Milliseconds since 1970. */
export const instant: Member<Millis> = (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= LATEST ? value : undefined;

export function matching(pattern: RegExp): Member<string> {
  return (value) => (typeof value === 'string' && pattern.test(value) ? value : undefined);
}

export const branchName: Member<string> = matching(new RegExp(BRANCH_NAME));
