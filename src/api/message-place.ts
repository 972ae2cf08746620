/** The cursors of lists of messages: how far a reader came, on which branch. */
import type { MessageId } from '../core/ids.ts';
import { parseId } from '../core/ids.ts';
import type { MessageView, Place } from '../db/message-views.ts';
import { decodeCursor, encodeCursor, notOurs } from './page.ts';

export function placeAfter(page: readonly MessageView[], before: Place): Place {
  return page.reduce<Place>((place, { status, seq, queue, createdAt }) => {
    if (status !== 'queued') return { ...place, seq };
    const newest = Math.max(createdAt, place.queue?.newest ?? 0);
    return { ...place, queue: queue === null ? place.queue : { ...queue, newest } };
  }, before);
}

/** A list goes on on the branch on which it began, whichever is active by then. */
export function formatPlace({ seq, queue }: Place, branch: string): string {
  const queued = queue === null ? [] : [queue.lane, queue.position, queue.id, queue.newest];
  return encodeCursor([branch, seq, ...queued]);
}

export function parsePlace(
  cursor: string | undefined,
  asked: string | null,
): { place: Place; branch: string | null } {
  if (cursor === undefined) return { place: { seq: null, queue: null }, branch: asked };
  const [branch, seq, lane, position, idText, newest, ...more] = decodeCursor(cursor);
  if (typeof branch !== 'string' || branch !== (asked ?? branch)) throw notOurs();
  if ((seq !== null && !isNumber(seq)) || more.length > 0) throw notOurs();
  if (lane === undefined) return { place: { seq, queue: null }, branch };
  const id = typeof idText === 'string' ? parseId<MessageId>(idText) : null;
  if (!isNumber(lane) || !isNumber(position) || id === null || !isNumber(newest)) throw notOurs();
  return { place: { seq, queue: { lane, position, id, newest } }, branch };
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
