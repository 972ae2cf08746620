/**
 * Gives the focus to a near element if what has it disappears or is disabled; browsers give it to `<body>`, where the
 * next Tab begins at the top of the page. Of a list that is the next row, else the one before; elsewhere what is around
 * it. The card of a tool call never gets it from outside, since keys decide in the card that has the focus; neither does a
 * row of a list whose keys act on the focused row. Dialogs, menus and cards that decide it themselves do so earlier.
 */
import { useEffect } from 'react';

const ROW = 'li,tr,article,[data-row]';
const CARD = '[data-call]';
/** Around a list whose keys act on the row that has the focus. */
const KEYED = '[data-row-keys]';
const USABLE = 'a[href], button:not(:disabled), input:not(:disabled), textarea:not(:disabled), [tabindex]';

/** Where a removed node was. */
type Gap = { next: Node | null; previous: Node | null; parent: Node; wasRow: boolean };

export function useKeptFocus(): void {
  useEffect(() => keepFocus(), []);
}

function keepFocus(): () => void {
  let last: HTMLElement | null = null;
  let gap: Gap | null = null;
  let frame = 0;

  const take = ({ target }: FocusEvent): void => {
    last = target instanceof HTMLElement ? target : null;
    gap = null;
  };
  /** A click on what cannot have the focus takes it away on purpose. */
  const leave = ({ target }: PointerEvent): void => {
    if (target instanceof Element && target.closest(USABLE) === null) last = null;
  };
  const check = (): void => {
    const { activeElement, body } = document;
    if (last === null || (activeElement !== null && activeElement !== body)) return;
    const heir = last.isConnected ? heirBeside(last) : heirOf(gap);
    (heir ?? document.getElementById('main'))?.focus({ preventScroll: true });
  };
  const changes = new MutationObserver((records) => {
    if (last === null) return;
    gap = records.map((record) => gapIn(record, last)).findLast((found) => found !== null) ?? gap;
    cancelAnimationFrame(frame);
    // Not at once: a dialog that closes gives the focus back a moment later.
    frame = requestAnimationFrame(() => (frame = requestAnimationFrame(check)));
  });

  document.addEventListener('focusin', take);
  document.addEventListener('pointerdown', leave);
  changes.observe(document.body, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ['disabled', 'hidden'],
  });
  return () => {
    document.removeEventListener('focusin', take);
    document.removeEventListener('pointerdown', leave);
    changes.disconnect();
    cancelAnimationFrame(frame);
  };
}

function gapIn({ removedNodes, nextSibling, previousSibling, target }: MutationRecord, last: Node | null): Gap | null {
  const removed = [...removedNodes].find((node) => node.contains(last));
  if (!(removed instanceof Element)) return null;
  return { next: nextSibling, previous: previousSibling, parent: target, wasRow: isRow(removed) };
}

/** A virtual list has its rows in elements of its own. */
function isRow(element: Element): boolean {
  return element.matches(ROW) || element.firstElementChild?.matches(ROW) === true;
}

function heirOf(gap: Gap | null): HTMLElement | null {
  if (gap === null) return null;
  const rows = gap.wasRow ? [gap.next, gap.previous] : [];
  for (const row of rows) {
    const heir = row instanceof HTMLElement && row.isConnected && row.closest(KEYED) === null ? firstIn(row) : null;
    if (heir !== null) return heir;
  }
  return around(gap.parent);
}

/** It is disabled or hidden, or was and is not any more. */
function heirBeside(last: HTMLElement): HTMLElement | null {
  if (canHaveFocus(last)) return last;
  const card = last.closest<HTMLElement>(CARD);
  if (card !== null && canHaveFocus(card)) return card;
  const row = last.closest<HTMLElement>(ROW);
  return (row === null ? null : firstIn(row)) ?? around(last.parentElement);
}

function firstIn(row: HTMLElement): HTMLElement | null {
  const all = [row, ...row.querySelectorAll<HTMLElement>(USABLE)];
  return all.find((one) => one.matches(USABLE) && one.closest(CARD) === null && canHaveFocus(one)) ?? null;
}

function around(node: Node | null): HTMLElement | null {
  let element = node instanceof HTMLElement ? node : null;
  while (element !== null && !(element.matches(USABLE) && canHaveFocus(element))) element = element.parentElement;
  return element;
}

function canHaveFocus(element: HTMLElement): boolean {
  return element.isConnected && !element.matches(':disabled') && element.checkVisibility();
}
