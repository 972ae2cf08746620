// Timers of a page that a test holds, as a script that the page runs first, and what the test then does with them.
import type { Page } from 'playwright-core';

/** Timers of three seconds, such as that of a decision, last a fifth of one. */
export const HURRIED = `{
  const later = setTimeout;
  globalThis.setTimeout = (act, ms, ...given) => later(act, ms === 3_000 ? 200 : ms, ...given);
}`;

/** Timers of three seconds last until `sendNow`. */
export const HELD = `{
  const [begin, end] = [setTimeout, clearTimeout];
  const held = new Map();
  let any = false;
  globalThis.setTimeout = (act, ms, ...given) => {
    if (ms !== 3_000) return begin(act, ms, ...given);
    const timer = begin(() => undefined, 2 ** 31 - 1);
    any = true;
    held.set(timer, act);
    return timer;
  };
  globalThis.clearTimeout = (timer) => {
    held.delete(timer);
    end(timer);
  };
  globalThis.sendNow = () => {
    if (!any) throw new Error('No timer was held: decisions last another time now.');
    const due = [...held.values()];
    held.clear();
    for (const act of due) act();
  };
}`;

/** In a page with `held`: the three seconds of each decision that was not undone are over. */
export async function sendNow(page: Page): Promise<void> {
  await page.evaluate('sendNow()');
}

/** Timers of three seconds and more, such as those that poll, do nothing after `stopPolling`. */
export const STOPPABLE = `for (const name of ['setTimeout', 'setInterval']) {
  const begin = globalThis[name];
  globalThis[name] = (act, ms, ...given) =>
    begin((...all) => void ((globalThis.isPollingStopped && ms >= 3_000) || act(...all)), ms, ...given);
}`;

/** In a page with `stoppable`: from now on it learns of changes from its stream only. */
export async function stopPolling(page: Page): Promise<void> {
  await page.evaluate('globalThis.isPollingStopped = true');
}
