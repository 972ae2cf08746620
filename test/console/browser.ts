// Real Chromium, as people use it: a profile of its own for each visit, the sizes and themes that every page is made for, and
// an end to the test where a page met a fault that nobody spoke of.
import { AxeBuilder } from '@axe-core/playwright';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CHROMIUM_ARGS, findChromium } from './chromium.ts';

/** A test that needs a browser: skipped where there is none. */
export const browserTest = test.skipIf(findChromium() === null);

export const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

export type Look = {
  size?: keyof typeof SIZES;
  theme?: 'light' | 'dark';
  /** Things move only where the movement is what is looked at. */
  motion?: boolean;
};

export type Visits = {
  /** A new browser profile, at an address. */
  visit: (url: string, look?: Look) => Promise<Page>;
  /** From here to the end of the test a page may complain so: of a server that is away, of a refusal that is looked for. */
  excuse: (pattern: RegExp) => void;
};

/** The machine's network changed (a container came or went): Chromium drops what is under way, whoever asked for it. */
const NETWORK_CHANGED = /net::ERR_NETWORK_CHANGED/;

/** One browser for the tests of a file. Whatever a page complains of fails the test that it was open in. */
export function useBrowser(): Visits {
  let browser: Browser | null = null;
  let open: BrowserContext[] = [];
  let faults: string[] = [];
  let excused: RegExp[] = [];

  beforeAll(async () => {
    const executablePath = findChromium();
    if (executablePath !== null) browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGS });
  });
  afterEach(async () => {
    const found = faults.filter(
      (fault) => ![NETWORK_CHANGED, ...excused].some((pattern) => pattern.test(fault)),
    );
    await Promise.all(open.map((context) => context.close()));
    [open, faults, excused] = [[], [], []];
    expect(found, 'what pages complained of').toEqual([]);
  });
  afterAll(() => browser?.close());

  return {
    excuse: (pattern) => void excused.push(pattern),
    async visit(url, { size = 'desktop', theme = 'light', motion = false } = {}) {
      if (browser === null) throw new Error('there is no browser here');
      const context = await browser.newContext({
        viewport: SIZES[size],
        colorScheme: theme,
        reducedMotion: motion ? 'no-preference' : 'reduce',
        hasTouch: size === 'phone',
        isMobile: size === 'phone',
      });
      open.push(context);
      context.setDefaultTimeout(60_000);
      context.on('console', (message) => {
        if (message.type() === 'error') faults.push(`${message.text()} (${message.location().url})`);
      });
      context.on('weberror', (error) => faults.push(String(error.error())));
      const page = await context.newPage();
      await goTo(page, url);
      return page;
    },
  };
}

async function goTo(page: Page, url: string): Promise<void> {
  try {
    await page.goto(url);
  } catch (error) {
    if (!NETWORK_CHANGED.test(String(error))) throw error;
    await goTo(page, url);
  }
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/**
 * Nothing on the page is loaded or measured any more, for as many frames as it takes a virtual list to go from no rows over
 * hidden ones, which have no name, to those that are seen.
 */
const SETTLED = `(async () => {
  const BUSY = '[role="status"][aria-label="Loading"], main [style*="visibility: hidden"]:not(.recharts-tooltip-wrapper)';
  const nextFrame = () => new Promise(requestAnimationFrame);
  for (let calm = 0; calm < 6; calm += 1) {
    if (document.querySelector(BUSY) !== null) calm = -1;
    await nextFrame();
  }
})()`;

async function settled(page: Page): Promise<void> {
  await page.evaluate(SETTLED);
}

/** WCAG 2.2 AA, as far as a program can tell. */
export async function expectAccessible(page: Page): Promise<void> {
  await settled(page);
  const { violations } = await new AxeBuilder({ page }).withTags(RULES).analyze();
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' | ')}`);
  expect(told, `accessibility of ${page.url()}`).toEqual([]);
}

/** No page scrolls sideways. */
export async function expectFits(page: Page): Promise<void> {
  const [content, window] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  );
  expect(content, `width of ${page.url()}`).toBeLessThanOrEqual(window);
}
