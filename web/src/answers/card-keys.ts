/**
 * Keys of the cards whose calls wait for a person: `j` and `k`, or the arrow keys from a card, move between them. A key
 * that a button names in `aria-keyshortcuts` clicks it only in the card that has the focus, which is outlined; the focus
 * stays there, so that the next press decides nothing else.
 */
import { clickByKey, usePageKeys } from '../ui/forms/page-keys.ts';
import { sayMoved } from '../ui/state/steady.ts';

const STEPS: Readonly<Record<string, 1 | -1>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

export function useCardKeys(): void {
  usePageKeys(press);
}

function press(event: KeyboardEvent): boolean {
  const from = document.activeElement;
  const card = from?.closest<HTMLElement>('[data-call]') ?? null;
  const step = STEPS[event.key];
  if (step === undefined) return card !== null && clickByKey(event, card);
  // Elsewhere the arrow keys scroll.
  const isLetter = event.key === 'j' || event.key === 'k';
  return (isLetter || (card !== null && from?.matches('pre') === false)) && go(card, step);
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
  next.scrollIntoView({ block: 'nearest' });
  sayMoved();
  return true;
}
