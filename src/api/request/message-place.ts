/** Cursors of message lists: the position of the reader, and the branch. */
import type { MessageId } from '../../core/ids.ts';
import type { MessageView, Place } from '../../db/read/messages/message-views.ts';
import { branchName, count, cursorOf, id, inOrder, instant, orNull, refusedCursor, small, whole } from './cursor.ts';

/**
 * The branch where the list started, even if another one is active by then; the last message; the last queued input.
 */
const PLACE = cursorOf(branchName, orNull(count), orNull(inOrder(small, whole, id<MessageId>, instant)));

export function placeAfter(page: readonly MessageView[], before: Place): Place {
  return page.reduce<Place>((place, { status, seq, queue, createdAt }) => {
    if (status !== 'queued') return { ...place, seq };
    const newest = Math.max(createdAt, place.queue?.newest ?? 0);
    return { ...place, queue: queue === null ? place.queue : { ...queue, newest } };
  }, before);
}

export function writePlace({ seq, queue }: Place, branch: string): string {
  return PLACE.write([branch, seq, queue && [queue.lane, queue.position, queue.id, queue.newest]]);
}

export function readPlace(
  cursor: string | undefined,
  requestedBranch: string | null,
): { place: Place; branch: string | null } {
  const key = PLACE.read(cursor);
  if (key === null) return { place: { seq: null, queue: null }, branch: requestedBranch };
  const [branch, seq, queued] = key;
  if (branch !== (requestedBranch ?? branch)) throw refusedCursor();
  if (queued === null) return { place: { seq, queue: null }, branch };
  const [lane, position, message, newest] = queued;
  return { place: { seq, queue: { lane, position, id: message, newest } }, branch };
}
