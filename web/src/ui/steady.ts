/**
 * A click that was meant for what stood there before does not press what was laid out under the pointer since. An element
 * that has just come, or moved by itself, takes no click for half a second; keys are not held up. What is scrolled does not
 * count: whoever scrolls expects it. What scrolls by itself says so by `sayMoved`.
 */
import { useLayoutEffect, useRef } from 'react';
import type { RefObject } from 'react';

const SETTLING_MS = 500;
/** Pixels. */
const LEAST = 3;

type Watched = { element: HTMLElement; top: number; left: number; movedAt: number };

const watched = new Set<Watched>();
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
  for (const one of watched) one.movedAt = now;
  look();
}

function look(): void {
  const now = performance.now();
  for (const one of watched) {
    const { top, left } = placeOf(one.element);
    if (Math.abs(top - one.top) >= LEAST || Math.abs(left - one.left) >= LEAST) one.movedAt = now;
    Object.assign(one, { top, left });
    one.element.toggleAttribute('data-settling', now - one.movedAt < SETTLING_MS);
  }
}

/** Within all that scrolls. */
function placeOf(element: HTMLElement): { top: number; left: number } {
  let { top, left } = element.getBoundingClientRect();
  for (let around = element.parentElement; around !== null; around = around.parentElement) {
    top += around.scrollTop;
    left += around.scrollLeft;
  }
  return { top, left };
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
  const one = { element, ...placeOf(element), movedAt: performance.now() };
  element.toggleAttribute('data-settling', true);
  if (watched.size === 0) {
    addEventListener('click', onClick, { capture: true });
    frame = requestAnimationFrame(lookOn);
  }
  watched.add(one);
  return () => {
    watched.delete(one);
    element.removeAttribute('data-settling');
    if (watched.size > 0) return;
    removeEventListener('click', onClick, { capture: true });
    cancelAnimationFrame(frame);
  };
}
