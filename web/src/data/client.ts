/** The API behind this page. */
import { createClient } from 'nightshift/client';

/** Browsers take no more than 64 KB in all from pages that are left. */
const MOST_OF_LEFT = 60_000;

let isLeft = false;
addEventListener('pagehide', () => (isLeft = true), { capture: true });
addEventListener('pageshow', () => (isLeft = false));

export const client = createClient({
  url: globalThis.location.origin,
  // What is sent while the page is left arrives nevertheless.
  fetch: (input, init) => {
    const isSmall = typeof init?.body === 'string' && init.body.length < MOST_OF_LEFT;
    return fetch(input, isLeft && isSmall ? { ...init, keepalive: true } : init);
  },
});
