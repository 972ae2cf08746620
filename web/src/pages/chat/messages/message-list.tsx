/**
 * The virtualized message list with completed and partial messages. Only visible rows and the last few are in the DOM,
 * only messages near the visible ones in memory. The list stays scrolled to its end while it grows, unless the reader
 * scrolls up.
 */
import { ArrowDown } from 'lucide-react';
import { useEffect, useMemo, useRef } from 'react';
import type { Context, PartialMessage, Message } from 'nightshift/client';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { useMessages } from '../../../data/query/messages.ts';
import { useTakenOver } from '../../../data/query/use-sending.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Empty } from '../../../ui/layout/empty.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { showError } from '../../../ui/layout/toaster.tsx';
import { useNow } from '../../../ui/state/clock.ts';
import { useZone } from '../../../ui/state/zone.ts';
import { dayOf } from '../../../data/days.ts';
import { messageListWords } from '../../../words.ts';
import { Announcer } from '../announcer.tsx';
import { useCompactionMarks } from './compaction-marks.ts';
import css from './message-list.module.css';
import { MessageRow } from './message-row.tsx';
import { rowsOf } from './rows.ts';
import { useShift, useSought } from './scrolling.ts';
import { useEnd, type Place } from './use-end.ts';

const words = messageListWords;

/** Distance to an edge, in pixels, at which more messages are fetched. */
const NEAR = 1_500;

/** How often it is checked whether a new day has begun. */
const HOUR_MS = 3_600_000;

type Props = {
  context: Context;
  partial: readonly PartialMessage[];
  /** Id of the message to scroll to first. */
  sought: string | undefined;
};

export function MessageList({ context, partial, sought }: Props) {
  const branch = context.active_branch;
  const { query, store } = useMessages(context.id, branch);
  const window = query.data;
  const marks = useCompactionMarks(context.id, branch);
  const [zone] = useZone();
  const now = useNow(HOUR_MS);
  const rows = useMemo(
    () =>
      window === undefined
        ? []
        : rowsOf(window.messages, partial, marks, { of: (at) => dayOf(at, 0, zone), today: dayOf(now, 0, zone) }),
    [window, partial, marks, zone, now],
  );
  useTakenOver(context.id, window?.messages ?? NONE);

  const list = useRef<VirtualizerHandle>(null);
  const isShifting = useShift(rows);
  useSought(store, rows, sought, list);

  const fetchNear = ({ offset, below }: Place): void => {
    if (offset < NEAR && window?.hasOlder === true) load(store.loadOlder());
    else if (below < NEAR && window?.hasNewer === true) load(store.loadNewer());
  };
  const { scroller, isAway, onScroll, toEnd } = useEnd({
    startsAtEnd: sought === undefined,
    hasNewer: window?.hasNewer ?? false,
    onMoved: fetchNear,
  });
  const rested = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const isUpper = element.scrollTop < element.scrollHeight / 2;
    store.trim(isUpper ? 'end' : 'start');
  };
  // If one page does not fill the view, no scroll event would fetch the next page.
  useEffect(() => {
    const element = scroller.current;
    if (element === null || window?.hasOlder !== true) return;
    if (element.scrollHeight < element.clientHeight + NEAR) load(store.loadOlder());
  }, [window, store, scroller]);

  return (
    <div className={css.frame}>
      <div
        ref={scroller}
        className={css.scroller}
        onScroll={window === undefined ? undefined : onScroll}
        role="log"
        aria-label={words.label}
        aria-live="off"
        aria-busy={query.isPending}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard
        tabIndex={0}
      >
        {query.isPending && <Skeleton lines={6} height={56} />}
        {query.isError && window === undefined && (
          <ErrorState error={query.error} onRetry={() => void query.refetch()} busy={query.isFetching} />
        )}
        {window !== undefined && rows.length === 0 && <Empty title={words.none}>{words.noneAbout}</Empty>}
        {window?.hasOlder === true && <p className={css.older}>{words.loadingOlder}</p>}
        <Virtualizer
          ref={list}
          scrollRef={scroller}
          shift={isShifting}
          bufferSize={600}
          keepMounted={lastOf(rows.length)}
          startMargin={window?.hasOlder === true ? OLDER_HEIGHT : 0}
          onScrollEnd={rested}
        >
          {rows.map((row) => (
            <MessageRow key={row.key} row={row} context={context} isSought={row.key === sought} />
          ))}
        </Virtualizer>
      </div>
      {isAway && (
        <div className={css.jump}>
          <Button size="small" onClick={() => void toEnd(() => store.jumpToLatest())}>
            <ArrowDown aria-hidden="true" /> {words.toLatest}
          </Button>
        </div>
      )}
      <Announcer messages={window?.messages ?? []} isAtEnd={window?.hasNewer === false} />
    </div>
  );
}

const OLDER_HEIGHT = 36;

/** Rows at the end, in which others are put between, such as an input that arrives after a part of its answer. */
const LAST_ROWS = 4;

/**
 * Their indexes. The list keeps sizes by index, not by row, so a row that takes the place of another one must be measured
 * at once: if it is measured when the reader comes near, the list moves under the pointer.
 */
function lastOf(count: number): number[] {
  const first = Math.max(0, count - LAST_ROWS);
  return Array.from({ length: count - first }, (_, at) => first + at);
}

const NONE: readonly Message[] = [];

function load(more: Promise<void>): void {
  more.catch((error: unknown) => showError(words.loadFailed, error));
}
