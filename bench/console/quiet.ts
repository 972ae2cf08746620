/** How many requests a page makes while nothing happens. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser } from 'playwright-core';

/** What a page still loads when it has been drawn, in milliseconds. */
const SETTLING_MS = 10_000;
const MINUTE_MS = 60_000;

/** Requests in a minute, in the order of the addresses. The pages are open beside each other, each in a browser of its own. */
export async function requestsPerMinute(
  browser: Browser,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<number[]> {
  const counts = addresses.map(() => 0);
  // Pages of one context would share a stream.
  const contexts = await Promise.all(addresses.map(() => browser.newContext()));
  try {
    const pages = await Promise.all(contexts.map((context) => context.newPage()));
    await Promise.all(pages.map((page, at) => page.goto(addresses[at] ?? '')));
    await pause(SETTLING_MS, undefined, { signal });
    for (const [at, page] of pages.entries()) page.on('request', () => (counts[at] = (counts[at] ?? 0) + 1));
    await pause(MINUTE_MS, undefined, { signal });
    return counts;
  } finally {
    await Promise.all(contexts.map((context) => context.close()));
  }
}
