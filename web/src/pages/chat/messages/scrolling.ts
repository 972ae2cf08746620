/** Scroll position of a message list that grows at both ends. */
import { useEffect, useRef, useState, type RefObject } from 'react';
import type { VirtualizerHandle } from 'virtua';
import type { MessageStore } from '../../../data/live/message-store.ts';
import { showError } from '../../../ui/layout/toaster.tsx';
import { messageListWords } from '../../../words.ts';
import type { Row } from './rows.ts';

/** True if rows were added or removed at the start, so that the list must keep the visible rows in place. */
export function useShift(rows: readonly Row[]): boolean {
  const [last, setLast] = useState({ rows, isShifting: false });
  if (last.rows === rows) return last.isShifting;
  const before = last.rows;
  const isShifting =
    before.length > 0 &&
    rows.length !== before.length &&
    rows[0]?.key !== before[0]?.key &&
    rows.at(-1)?.key === before.at(-1)?.key;
  setLast({ rows, isShifting });
  return isShifting;
}

/** Scrolls to the requested message, once per request. */
export function useSought(
  store: MessageStore,
  rows: readonly Row[],
  sought: string | undefined,
  list: RefObject<VirtualizerHandle | null>,
): void {
  const [found, setFound] = useState<string>();
  const shown = useRef<string>(undefined);
  useEffect(() => {
    if (sought === undefined) {
      // The same message may be requested again.
      shown.current = undefined;
      return;
    }
    shown.current = undefined;
    store.jumpTo(sought).then(
      () => setFound(sought),
      (error: unknown) => showError(messageListWords.findFailed, error),
    );
  }, [store, sought]);
  useEffect(() => {
    const at = list.current;
    const index = rows.findIndex(({ key }) => key === found);
    if (at === null || found === undefined || index === -1 || shown.current === found) return undefined;
    let steady = 0;
    let frames = 0;
    let frame = 0;
    // Scrolls again each frame, because rows are still being measured and added.
    const look = (): void => {
      const isSeen = isInSight(at, index);
      steady = isSeen ? steady + 1 : 0;
      if (!isSeen) at.scrollToIndex(index, { align: 'center' });
      frames += 1;
      if (steady < STEADY_FRAMES && frames < MOST_FRAMES) frame = requestAnimationFrame(look);
      else shown.current = found;
    };
    look();
    return () => cancelAnimationFrame(frame);
  }, [rows, found, list]);
}

/** Number of consecutive frames in view after which scrolling ends. */
const STEADY_FRAMES = 10;
const MOST_FRAMES = 180;

function isInSight(list: VirtualizerHandle, index: number): boolean {
  const top = list.getItemOffset(index) - list.scrollOffset;
  return top + list.getItemSize(index) > 0 && top < list.viewportSize;
}
