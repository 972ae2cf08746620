/** The API client of the console. */
import { createClient } from 'nightshift/client';

/** Browsers limit the bodies of all `keepalive` requests of a page to 64 KB together. */
const MOST_OF_LEFT = 60_000;

let isLeft = false;
addEventListener('pagehide', () => (isLeft = true), { capture: true });
addEventListener('pageshow', () => (isLeft = false));

export const client = createClient({
  url: globalThis.location.origin,
  // `keepalive` lets requests finish that are sent while the page is being closed.
  fetch: (input, init) => {
    const isSmall = typeof init?.body === 'string' && init.body.length < MOST_OF_LEFT;
    return fetch(input, isLeft && isSmall ? { ...init, keepalive: true } : init);
  },
});
