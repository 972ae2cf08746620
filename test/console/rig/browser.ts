// Real Chromium: an empty profile before each test, the sizes and themes that every page supports, and a failed test
// where a page has an unexpected error.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, ConsoleMessage, Page, WebError } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import { depth } from '../../services/depth.ts';
import { findHeadless } from './chromium.ts';
import { openContext, profileOf, type Size } from './profiles.ts';
import type { SessionCookie } from './sign-in.ts';
import { HELD, HURRIED, STOPPABLE } from './timers.ts';

/** A test that needs a browser: skipped where there is none. */
export const browserTest = test.skipIf(findHeadless() === null);

/** How pages are viewed: the gate uses each size once and each theme once. */
export const LOOKS: readonly { size: Size; theme: 'light' | 'dark' }[] = [
  { size: 'desktop', theme: 'light' },
  { size: 'phone', theme: 'dark' },
  ...depth([], [
    { size: 'desktop', theme: 'dark' },
    { size: 'phone', theme: 'light' },
  ] as const),
];

export type Look = {
  size?: Size;
  theme?: 'light' | 'dark';
  /** In a profile of its own: for changes that a test cannot undo in it, such as another clock. */
  alone?: boolean;
  /** Decisions are sent after a fifth of a second in place of three seconds: for tests that undo none. */
  hurried?: boolean;
  /** Decisions are sent by `sendNow`: for tests that undo one, or look at one that can be undone. */
  held?: boolean;
  /** `stopPolling` leaves the page only its stream: for tests that tell what it reads by the stream from what it polls. */
  stoppable?: boolean;
};

export type Visits = {
  /** A new page at an address, in a profile without stored data. */
  visit: (url: string, look?: Look) => Promise<Page>;
  /** From here to the end of the test a page may log this error: of a server that is down, of an expected refusal. */
  excuse: (pattern: RegExp) => void;
};

/** The machine's network changed (a container was started or removed): Chromium drops its open requests. */
const NETWORK_CHANGED = /net::ERR_NETWORK_CHANGED/;

/** A context that a test has visited, and how it is left. */
type Visited = { context: BrowserContext; leave: () => Promise<void> };

/**
 * The browser, for the tests of a file. Each visit is signed in where the platform has a session. An error of a page
 * fails the test that it was open in.
 */
export function useBrowser(platform?: () => { session: SessionCookie | null }): Visits {
  const visited = new Map<BrowserContext, () => Promise<void>>();
  const origins = new Set<string>();
  let faults: string[] = [];
  let excused: RegExp[] = [];

  const onMessage = (message: ConsoleMessage): void => {
    if (message.type() === 'error') faults.push(`${message.text()} (${message.location().url})`);
  };
  const onError = (error: WebError): void => void faults.push(String(error.error()));

  async function enter({ context, leave }: Visited): Promise<BrowserContext> {
    if (visited.has(context)) return context;
    visited.set(context, leave);
    context.on('console', onMessage);
    context.on('weberror', onError);
    const session = platform?.().session ?? null;
    if (session !== null) await context.addCookies([session]);
    return context;
  }

  afterEach(async () => {
    const found = faults.filter((fault) => ![NETWORK_CHANGED, ...excused].some((pattern) => pattern.test(fault)));
    for (const [context, leave] of visited) {
      context.off('console', onMessage);
      context.off('weberror', onError);
      await leave();
    }
    visited.clear();
    origins.clear();
    [faults, excused] = [[], []];
    expect(found, 'errors of pages').toEqual([]);
  });

  return {
    excuse: (pattern) => void excused.push(pattern),
    async visit(url, { size = 'desktop', theme = 'light', alone = false, ...timers } = {}) {
      origins.add(new URL(url).origin);
      const context = await enter(alone ? await ownContext(size) : await sharedContext(size, origins));
      const page = await context.newPage();
      // Animations are off: no test checks one.
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      for (const script of scriptsOf(timers)) await page.addInitScript(script);
      await goTo(page, url);
      return page;
    },
  };
}

function scriptsOf({ hurried = false, held = false, stoppable = false }: Look): string[] {
  return [...(hurried ? [HURRIED] : []), ...(held ? [HELD] : []), ...(stoppable ? [STOPPABLE] : [])];
}

async function ownContext(size: Size): Promise<Visited> {
  const context = await openContext(size);
  return { context, leave: () => context.close() };
}

async function sharedContext(size: Size, origins: Iterable<string>): Promise<Visited> {
  const { context, reset } = await profileOf(size);
  return { context, leave: () => reset(origins) };
}

async function goTo(page: Page, url: string): Promise<void> {
  try {
    await page.goto(url);
  } catch (error) {
    if (!NETWORK_CHANGED.test(String(error))) throw error;
    await goTo(page, url);
  }
}

/**
 * Nothing on the page is loaded or measured any more, for as many frames as a virtual list needs to go from hidden
 * rows, which have no name, to visible ones.
 */
const SETTLED = `(async () => {
  const BUSY = '[role="status"][aria-label="Loading"], main [style*="visibility: hidden"]:not(.recharts-tooltip-wrapper)';
  const nextFrame = () => new Promise(requestAnimationFrame);
  for (let calm = 0; calm < 6; calm += 1) {
    if (document.querySelector(BUSY) !== null) calm = -1;
    await nextFrame();
  }
})()`;

/** Until nothing moves under the pointer. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(SETTLED);
}

/** Minified: every page that is checked has to parse it. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const OPTIONS = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] },
  resultTypes: ['violations'],
};

const FIND_VIOLATIONS = `axe.run(document, ${JSON.stringify(OPTIONS)}).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')),
)`;

/** WCAG 2.2 AA, as far as a program can tell. */
export async function expectAccessible(page: Page): Promise<void> {
  await settled(page);
  // A document keeps it until another one takes its place.
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(AXE);
  const violations = await page.evaluate<string[]>(FIND_VIOLATIONS);
  expect(violations, `accessibility of ${page.url()}`).toEqual([]);
}

/** No page scrolls sideways. */
export async function expectFits(page: Page): Promise<void> {
  const [content, window] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  );
  expect(content, `width of ${page.url()}`).toBeLessThanOrEqual(window);
}
