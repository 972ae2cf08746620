/**
 * Lists in pages. A cursor is opaque: the key of the last item of a page, so that what is inserted meanwhile neither
 * repeats an item nor hides one.
 */
import { refuse } from '../core/errors.ts';
import { parseId } from '../core/ids.ts';
import type { JobId, WorkerId, ContextId } from '../core/ids.ts';
import { RequestRefused } from './problem.ts';

export type Listing<Wire> = { data: Wire[]; next_cursor: string | null };

/** `items` holds one more than `limit` where there is a next page. */
export function toListing<Item, Wire>(
  items: readonly Item[],
  limit: number,
  toWire: (item: Item) => Wire,
  cursorOf: (item: Item) => string,
): Listing<Wire> {
  const page = items.slice(0, limit);
  const last = page.at(-1);
  return {
    data: page.map(toWire),
    next_cursor: items.length > limit && last !== undefined ? cursorOf(last) : null,
  };
}

/** A cursor that holds an id. */
export function idCursor(id: string): string {
  return encodeCursor([id]);
}

/** Null where no cursor was given. */
export function parseIdCursor<Id extends WorkerId | ContextId | JobId>(
  cursor: string | undefined,
): Id | null {
  if (cursor === undefined) return null;
  const [id] = decodeCursor(cursor);
  const parsed = typeof id === 'string' ? parseId<Id>(id) : null;
  if (parsed === null) throw notOurs();
  return parsed;
}

export function encodeCursor(key: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** The members of a cursor's key, as they are. Refuses what is no cursor. */
export function decodeCursor(cursor: string): unknown[] {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(key)) return key;
  } catch {
    // Told below.
  }
  throw notOurs();
}

export function notOurs(): RequestRefused {
  return new RequestRefused(refuse('invalid_request', 'cursor is none that was given out here.', 'cursor'));
}
