/**
 * Keys of the cards whose calls wait for a person: `j` and `k`, or the arrow keys from a card, move between them. A key
 * that a button names in `aria-keyshortcuts` clicks it only in the card that has the focus, which is outlined; the focus
 * stays there, so that the next press decides nothing else. If the card was scrolled out of sight, the key brings it back,
 * and decides nothing.
 */
import { buttonOfKey, clickByKey, usePageKeys } from '../ui/forms/page-keys.ts';
import { sayMoved } from '../ui/state/steady.ts';

const STEPS: Readonly<Record<string, 1 | -1>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
/** Undoes the decision, also out of sight: there are only three seconds for it. */
const UNDO = 'u';

export function useCardKeys(): void {
  usePageKeys(press);
}

function press(event: KeyboardEvent): boolean {
  const from = document.activeElement;
  const card = from?.closest<HTMLElement>('[data-call]') ?? null;
  const step = STEPS[event.key];
  if (step === undefined) return card !== null && pressIn(card, event);
  // Elsewhere the arrow keys scroll.
  const isLetter = event.key === 'j' || event.key === 'k';
  return (isLetter || (card !== null && from?.matches('pre') === false)) && go(card, step);
}

function pressIn(card: HTMLElement, event: KeyboardEvent): boolean {
  if (event.key === UNDO || isInSight(card)) return clickByKey(event, card);
  if (buttonOfKey(event, card) === undefined) return false;
  bringIntoSight(card);
  return true;
}

/** At least half of the card is visible, or it fills at least half of the space that it scrolls in. */
function isInSight(card: HTMLElement): boolean {
  let [top, bottom] = [0, innerHeight];
  for (let around = card.parentElement; around !== null; around = around.parentElement) {
    if (getComputedStyle(around).overflowY === 'visible') continue;
    const box = around.getBoundingClientRect();
    [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
  }
  const box = card.getBoundingClientRect();
  const seen = Math.min(bottom, box.bottom) - Math.max(top, box.top);
  return seen >= Math.min(box.height, bottom - top) / 2;
}

function bringIntoSight(card: HTMLElement): void {
  card.scrollIntoView({ block: 'nearest' });
  sayMoved();
}

/** From a card to the next one; without one to the first that waits. */
function go(from: HTMLElement | null, step: 1 | -1): boolean {
  const cards = [...document.querySelectorAll<HTMLElement>('main [data-call][data-waits]')].filter(
    (card) => card === from || card.dataset['waits'] === 'true' || card.dataset['over'] === 'true',
  );
  const next =
    from === null ? cards.find((card) => card.dataset['waits'] === 'true') : cards[cards.indexOf(from) + step];
  if (next === undefined) return false;
  next.focus({ preventScroll: true });
  bringIntoSight(next);
  return true;
}
