/** Sends a subscriber what is stored after its position, and attaches it to the feed. */
import type { Executor } from '../db/connection/client.ts';
import { readEvents } from '../db/read/messages/event-views.ts';
import type { ContextFeed } from './context-feed.ts';
import { PAGE } from './feed/reading.ts';
import type { Subscriber } from './subscriber.ts';

export type Replay = {
  db: Executor;
  feed: ContextFeed;
  subscriber: Subscriber;
  position: number;
  isOver: () => boolean;
};

/** Reads page after page until the tail is reached, and attaches in the same tick. */
export async function replay({ db, feed, subscriber, position: from, isOver }: Replay): Promise<void> {
  let position = from;
  for (;;) {
    // The client takes earlier pages before the stream is attached, so that its buffer then only holds new events.
    await subscriber.drained();
    const { tail } = feed;
    if (isOver() || position >= tail) break;
    const page = await readEvents(db, feed.tenantId, feed.contextId, { after: position, limit: PAGE });
    if (!isOver()) subscriber.send(page);
    const last = page.at(-1)?.seq ?? 0;
    position = page.length < PAGE ? Math.max(tail, last) : last;
  }
  if (!isOver()) feed.attach(subscriber, position);
}
