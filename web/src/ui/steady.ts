/**
 * A click that was meant for what stood there before does not press what was laid out under the pointer since. An element
 * that has just come, or moved by itself, takes no click for half a second, and neither does a button in it that has just
 * come, moved within it, or changed its words; keys are not held up. What is scrolled does not count, since a person who scrolls expects
 * it. What scrolls by itself says so by `sayMoved`.
 */
import { useLayoutEffect, useRef } from 'react';
import type { RefObject } from 'react';

const SETTLING_MS = 500;
/** Pixels. */
const LEAST = 3;

type Look = { top: number; left: number; words: string };
type Seen = Look & { movedAt: number };

const watched = new Set<HTMLElement>();
/** Of elements that are watched, and of the buttons in them. */
const seen = new WeakMap<HTMLElement, Seen>();
let frame = 0;

/** For an element whose clicks decide something; base.css keeps the pointer off `[data-settling]`. */
export function useSteady<Element extends HTMLElement>(): RefObject<Element | null> {
  const ref = useRef<Element>(null);
  useLayoutEffect(() => (ref.current === null ? undefined : watch(ref.current)), []);
  return ref;
}

/** A list went on to its end, say. */
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
  lookAt(element, { ...placeOf(element, null), words: '' }, now);
  for (const button of element.querySelectorAll('button')) {
    lookAt(button, { ...placeOf(button, element), words: button.textContent }, now);
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
    Math.abs(next.top - before.top) >= LEAST ||
    Math.abs(next.left - before.left) >= LEAST ||
    next.words !== before.words
  );
}

/** Within all that scrolls; `within`: against that element, and what scrolls in it. */
function placeOf(element: HTMLElement, within: HTMLElement | null): { top: number; left: number } {
  const origin = within?.getBoundingClientRect() ?? { top: 0, left: 0 };
  let { top, left } = element.getBoundingClientRect();
  for (
    let around = element.parentElement;
    around !== within && around !== null;
    around = around.parentElement
  ) {
    top += around.scrollTop;
    left += around.scrollLeft;
  }
  return { top: top - origin.top, left: left - origin.left };
}

function lookOn(): void {
  look();
  frame = requestAnimationFrame(lookOn);
}

/** Of a double click the second may come before the page was drawn again. A click by a key counts none. */
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
    frame = requestAnimationFrame(lookOn);
  }
  watched.add(element);
  lookInto(element, performance.now());
  return () => {
    watched.delete(element);
    element.removeAttribute('data-settling');
    if (watched.size > 0) return;
    removeEventListener('click', onClick, { capture: true });
    cancelAnimationFrame(frame);
  };
}
