/** What happens to a context feed, and what follows from it. Pure; `now` is in milliseconds, monotonic. */
import type { Progress } from '../../bus/bus.ts';
import { ask, askAgain, setHolder } from './asking.ts';
import { deliver, unfinished } from './entries.ts';
import { takeCallProgress } from './call-progress.ts';
import { applyFrame, defer, join, takeCheck, takeFrame } from './frames.ts';
import { end, giveUp, readHead, readTo, takeAnswer, takeHead, takePage } from './reading.ts';
import { andThen, step, type FeedEvent, type FeedState, type FeedStep, type Head } from './state.ts';

export function advance(state: FeedState, event: FeedEvent, now: number): FeedStep {
  switch (event.kind) {
    case 'attached': {
      const after = { ...state, isSubscribed: true };
      return event.position <= after.tail ? join(after, event.subscriber, now) : readTo(after, event.position);
    }
    case 'joined':
      return join(state, event.subscriber, now);
    case 'detached':
      return step({ ...state, isSubscribed: !event.isLast });
    case 'progress':
      return takeProgress(state, event.progress, now);
    case 'frame':
      return takeFrame(state, event.frame, now);
    case 'checked_frame':
      return applyFrame(state, event.frame, now);
    case 'call_progress':
      return takeCallProgress(state, event.frame);
    case 'polled':
      return takePolled(state, event.head, now);
    case 'lost':
      return askAgain(state, now);
    case 'ended':
      return end(state);
    case 'head_read':
      return takeHead(state, event.head);
    case 'page_read':
      return takePage(state, event.page);
    case 'answer_read':
      return takeAnswer(state, event.stored);
    case 'read_failed':
      return giveUp(state);
    case 'checked':
      return takeCheck(state, event.isStored);
  }
}

function takePolled(state: FeedState, head: Head, now: number): FeedStep {
  const moved = andThen(setHolder(state, head, now), (after) => {
    if (after.tail < 0) return step({ ...after, tail: head.headSeq });
    return head.headSeq > after.tail ? readTo(after, head.headSeq) : step(after);
  });
  return moved.state.isMissing ? andThen(moved, (after) => ask(after, now)) : moved;
}

function takeProgress(state: FeedState, progress: Progress, now: number): FeedStep {
  if (state.tail < 0) return step(state);
  if (state.check !== null) return defer(state, state.check, { kind: 'progress', progress });
  const { holder, headSeq } = progress;
  const withHolder = holder === undefined ? step(state) : setHolder(state, holder, now);
  if (headSeq === 0) return andThen(withHolder, readHead);
  return headSeq <= state.tail ? withHolder : andThen(withHolder, (after) => takeEntries(after, progress));
}

/** Entries that continue exactly at the tail are delivered. Otherwise PostgreSQL is read. */
function takeEntries(state: FeedState, { headSeq, entries = [] }: Progress): FeedStep {
  const news = entries.filter(({ seq }) => seq > state.tail);
  const continues = news[0]?.seq === state.tail + 1 && news.length === headSeq - state.tail;
  if (state.reading !== null || !continues || unfinished(state, news) !== null) return readTo(state, headSeq);
  return deliver({ ...state, known: Math.max(state.known, headSeq) }, news, headSeq);
}
