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

/** Clicks the button of the pressed key within `part`. */
export function clickByKey(event: KeyboardEvent, part: Element): boolean {
  const button = buttonOfKey(event, part);
  button?.click();
  return button !== undefined;
}

/**
 * The button within `part` whose `aria-keyshortcuts` is the pressed key, if it can be clicked; none of a key that is held
 * down.
 */
export function buttonOfKey(event: KeyboardEvent, part: Element): HTMLButtonElement | undefined {
  if (event.repeat) return undefined;
  const buttons = [...part.querySelectorAll<HTMLButtonElement>('button[aria-keyshortcuts]')];
  return buttons.find((one) => one.ariaKeyShortcuts === event.key && isUsable(one));
}

function isUsable(button: HTMLButtonElement): boolean {
  return !button.disabled && button.ariaDisabled !== 'true' && button.closest('[hidden]') === null;
}
