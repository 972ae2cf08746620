/**
 * Shortcuts of every page: `g` and a letter open a section, `/` focuses the search, `?` shows the help,
 * `b` collapses the sidebar. All other keys are passed to the open page, except for the one after `g`: where this session
 * has no such section, the key must not approve something in its place.
 */
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { showHelp } from '../ui/forms/help.ts';
import { pressOnPage } from '../ui/forms/page-keys.ts';
import { usePlaces } from './places.ts';
import { turnSidebar } from './sidebar.ts';

/** Time limit for the second key after `g`. */
const SECOND_KEY_MS = 1_500;

export function useShortcuts(): void {
  const navigate = useNavigate();
  const places = usePlaces();
  useEffect(() => {
    let goingUntil = 0;
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return;
      const isGoing = event.timeStamp < goingUntil;
      goingUntil = 0;
      const place = isGoing ? places.find(({ key }) => key === event.key) : undefined;
      if (place !== undefined) void navigate({ to: place.to });
      else if (event.key === 'g') goingUntil = event.timeStamp + SECOND_KEY_MS;
      else if (isGoing) return event.preventDefault();
      else if (event.key === '/') focusSearch(() => void navigate({ to: '/search' }));
      else if (event.key === '?') showHelp();
      else if (event.key === 'b') turnSidebar();
      else if (!pressOnPage(event)) return;
      event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [navigate, places]);
}

/** True while the user types into a field, or a dialog, menu or listbox is open. */
function isTaken({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const typing = target.matches('input, textarea, select') || target.isContentEditable;
  return typing || document.querySelector('[role="dialog"], [role="menu"], [role="listbox"]') !== null;
}

/** Focuses the search field of the page; calls `go` if the page has none. */
function focusSearch(go: () => void): void {
  const field = document.querySelector<HTMLInputElement>('main input[type="search"]');
  if (field === null) return go();
  field.focus();
  field.select();
}
