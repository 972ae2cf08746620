/**
 * Prevents clicks on elements that have just moved under the pointer. An element that appeared or moved ignores clicks
 * for half a second, and so does a button in it that appeared, moved within it or changed its label. Keys are not
 * blocked. Scrolling by the user does not count as a move; code that scrolls calls `sayMoved`.
 */
import { useLayoutEffect, useRef, type RefObject } from 'react';

const SETTLING_MS = 500;
/** Between two looks while the document does not change: a font or an image that arrives moves elements, too. */
const LOOK_MS = 100;
/** Minimum distance of a move, in pixels. */
const LEAST = 3;

type Look = { top: number; left: number; text: string };
type Seen = Look & { movedAt: number };

const watched = new Set<HTMLElement>();
/** Last positions of the watched elements and of the buttons in them. */
const seen = new WeakMap<HTMLElement, Seen>();
let timer: ReturnType<typeof setInterval> | undefined;
/** The next frame in which a change of the document is looked at. */
let frame: number | null = null;
const changes = new MutationObserver(() => {
  frame ??= requestAnimationFrame(() => {
    frame = null;
    look();
  });
});

/** For elements whose buttons send a decision. base.css disables pointer events on `[data-settling]`. */
export function useSteady<Element extends HTMLElement>(): RefObject<Element | null> {
  const ref = useRef<Element>(null);
  useLayoutEffect(() => (ref.current === null ? undefined : watch(ref.current)), []);
  return ref;
}

/** Call it after a programmatic scroll, such as of a list to its end. */
export function sayMoved(): void {
  const now = performance.now();
  for (const element of watched) {
    const known = seen.get(element);
    if (known !== undefined) known.movedAt = now;
  }
  look();
}

function look(): void {
  const now = performance.now();
  for (const element of watched) lookInto(element, now);
}

function lookInto(element: HTMLElement, now: number): void {
  lookAt(element, { ...placeOf(element, null), text: '' }, now);
  for (const button of element.querySelectorAll('button')) {
    lookAt(button, { ...placeOf(button, element), text: button.textContent }, now);
  }
}

function lookAt(element: HTMLElement, next: Look, now: number): void {
  const known = seen.get(element);
  const movedAt = known === undefined || isOther(known, next) ? now : known.movedAt;
  seen.set(element, { ...next, movedAt });
  element.toggleAttribute('data-settling', now - movedAt < SETTLING_MS);
}

function isOther(before: Look, next: Look): boolean {
  return (
    Math.abs(next.top - before.top) >= LEAST || Math.abs(next.left - before.left) >= LEAST || next.text !== before.text
  );
}

/** Position independent of scrolling; with `within` relative to that element. */
function placeOf(element: HTMLElement, within: HTMLElement | null): { top: number; left: number } {
  const origin = within?.getBoundingClientRect() ?? { top: 0, left: 0 };
  let { top, left } = element.getBoundingClientRect();
  for (let around = element.parentElement; around !== within && around !== null; around = around.parentElement) {
    top += around.scrollTop;
    left += around.scrollLeft;
  }
  return { top: top - origin.top, left: left - origin.left };
}

/** The second click of a double click can arrive before the next look. Clicks by keyboard have `detail` 0. */
function onClick(event: MouseEvent): void {
  look();
  const isSettling = event.target instanceof Element && event.target.closest('[data-settling]') !== null;
  if (event.detail === 0 || !isSettling) return;
  event.preventDefault();
  event.stopPropagation();
}

function watch(element: HTMLElement): () => void {
  seen.delete(element);
  if (watched.size === 0) {
    addEventListener('click', onClick, { capture: true });
    changes.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    timer = setInterval(look, LOOK_MS);
  }
  watched.add(element);
  lookInto(element, performance.now());
  return () => {
    watched.delete(element);
    element.removeAttribute('data-settling');
    if (watched.size > 0) return;
    removeEventListener('click', onClick, { capture: true });
    changes.disconnect();
    if (frame !== null) cancelAnimationFrame(frame);
    frame = null;
    clearInterval(timer);
  };
}
