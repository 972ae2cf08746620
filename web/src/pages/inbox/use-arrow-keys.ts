/** `j` and `k`, or the arrow keys, move between cards, unless a form control has the focus. */
import type { KeyboardEvent } from 'react';

const STEPS: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

export function useArrowKeys(): (event: KeyboardEvent<HTMLElement>) => void {
  return (event) => {
    const step = STEPS[event.key];
    const { target, currentTarget } = event;
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target instanceof HTMLElement && target.matches('input, textarea, select, pre')) return;
    const cards = [...currentTarget.querySelectorAll<HTMLElement>('article')];
    const here = cards.findIndex((card) => target instanceof Node && card.contains(target));
    const next = cards[here + step];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
    next.scrollIntoView({ block: 'nearest' });
  };
}
