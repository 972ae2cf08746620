/** Keeps a list scrolled to its end while it grows, unless the reader scrolls up. */
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { sayMoved } from '../../../ui/state/steady.ts';

/** Within this distance to the end, in pixels, the list counts as scrolled to the end. */
const AT_END = 48;

/** Distances to both ends of the list, in pixels. */
export type Place = { offset: number; below: number };
/** Sizes at the last scroll. */
type Sizes = { offset: number; height: number };

type Options = {
  startsAtEnd: boolean;
  /** The list continues after its last row. */
  hasNewer: boolean;
  onMoved: (place: Place) => void;
};

type End = {
  scroller: RefObject<HTMLDivElement | null>;
  /** The end is out of view. */
  isAway: boolean;
  onScroll: () => void;
  /** Loads what is missing, then scrolls to the end. */
  toEnd: (load: () => Promise<void>) => Promise<void>;
};

export function useEnd({ startsAtEnd, hasNewer, onMoved }: Options): End {
  const scroller = useRef<HTMLDivElement>(null);
  const last = useRef<Sizes>({ offset: 0, height: 0 });
  const sticks = useRef(startsAtEnd);
  const [isAway, setAway] = useState(false);

  const scrollToEnd = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const before = element.scrollTop;
    element.scrollTop = element.scrollHeight;
    if (element.scrollTop !== before) sayMoved();
    last.current = { offset: element.scrollTop, height: element.scrollHeight };
  };
  const follow = (): void => {
    const element = scroller.current;
    // The list may grow after the reader has scrolled and before the scroll event arrives.
    if (sticks.current && element !== null && !hasScrolledUp(element, last.current)) scrollToEnd();
  };
  // Reads the sizes in the event handler, before the next layout changes them.
  const onScroll = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const { scrollTop: offset, scrollHeight: height, clientHeight } = element;
    const below = height - clientHeight - offset;
    if (below <= AT_END) sticks.current = !hasNewer;
    else if (hasScrolledUp(element, last.current)) sticks.current = false;
    last.current = { offset, height };
    setAway(!sticks.current && (below > clientHeight / 3 || hasNewer));
    onMoved({ offset, below });
  };
  const toEnd = async (load: () => Promise<void>): Promise<void> => {
    sticks.current = true;
    await load();
    scrollToEnd();
    setAway(false);
  };

  useLayoutEffect(follow);
  useGrowth(scroller, follow);
  return { scroller, isAway, onScroll, toEnd };
}

/**
 * Whether the reader has scrolled up since. Layout changes move the offset, too: it shrinks with the height, and when the
 * view grows. A move within `AT_END` does not count.
 */
function hasScrolledUp({ scrollTop, scrollHeight, clientHeight }: HTMLElement, last: Sizes): boolean {
  if (scrollTop >= last.offset || scrollHeight < last.height) return false;
  return last.height - clientHeight - scrollTop > AT_END;
}

/** Rows grow without a render of the list, such as images or opened cards. */
function useGrowth(scroller: RefObject<HTMLDivElement | null>, onGrown: () => void): void {
  const grown = useEffectEvent(onGrown);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => grown());
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    return () => observer.disconnect();
  }, [scroller]);
}
