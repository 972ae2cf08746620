/** Keys of the open page. Those of every page come first (app/shortcuts.ts), and a field that has the focus gets its own. */
import { useEffect } from 'react';

/** Returns whether it used the key. */
type Press = (event: KeyboardEvent) => boolean;

const pages = new Set<Press>();

/** `press`: a function that stays the same, or the result of `useCallback`. */
export function usePageKeys(press: Press): void {
  useEffect(() => {
    pages.add(press);
    return () => void pages.delete(press);
  }, [press]);
}

export function pressOnPage(event: KeyboardEvent): boolean {
  return [...pages].some((press) => press(event));
}

/**
 * Clicks the button within `part` whose `aria-keyshortcuts` is the pressed key, if it can be clicked. A key that is held
 * down clicks nothing.
 */
export function clickByKey(event: KeyboardEvent, part: Element): boolean {
  if (event.repeat) return false;
  const buttons = [...part.querySelectorAll<HTMLButtonElement>('button[aria-keyshortcuts]')];
  const button = buttons.find((one) => one.ariaKeyShortcuts === event.key && isUsable(one));
  button?.click();
  return button !== undefined;
}

function isUsable(button: HTMLButtonElement): boolean {
  return !button.disabled && button.ariaDisabled !== 'true' && button.closest('[hidden]') === null;
}
