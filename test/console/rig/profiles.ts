// One Chromium for the test files that share a process, and one profile in it for each size of window. A new profile
// starts a new renderer process, which compiles the console again: half of the CPU time of a short test. So the
// profiles stay, with a page that keeps their renderer process, and between tests all data that a site can store in
// them is deleted.
import { chromium, type Browser, type BrowserContext, type CDPSession, type Page } from 'playwright-core';
import { CHROMIUM_ARGS, findHeadless } from './chromium.ts';

export const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
export type Size = keyof typeof SIZES;

export type Profile = {
  context: BrowserContext;
  /** Closes the pages of a test, and deletes the stored data of these origins. */
  reset: (origins: Iterable<string>) => Promise<void>;
};

let browser: Promise<Browser> | null = null;
const kept = new Map<Size, Promise<Profile>>();

/** The profile that the visits of this size share. */
export function profileOf(size: Size): Promise<Profile> {
  const profile = kept.get(size) ?? openProfile(size);
  kept.set(size, profile);
  return profile;
}

/** A profile for one test, which closes it: for changes that cannot be undone in a context, such as another clock. */
export async function openContext(size: Size): Promise<BrowserContext> {
  const context = await (
    await launched()
  ).newContext({
    viewport: SIZES[size],
    hasTouch: size === 'phone',
    isMobile: size === 'phone',
  });
  context.setDefaultTimeout(60_000);
  return context;
}

async function openProfile(size: Size): Promise<Profile> {
  const context = await openContext(size);
  const keeper = await context.newPage();
  const session = await context.newCDPSession(keeper);
  return { context, reset: (origins) => reset(context, keeper, session, origins) };
}

async function reset(
  context: BrowserContext,
  keeper: Page,
  session: CDPSession,
  origins: Iterable<string>,
): Promise<void> {
  const pages = context.pages().filter((page) => page !== keeper);
  await Promise.all(pages.map((page) => page.close()));
  await context.clearCookies();
  for (const origin of origins) await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
}

/** All pages of a profile in one renderer process, and no optimizing compiler: a test ends before it pays. */
const SHORT_LIVED = ['--process-per-site', '--renderer-process-limit=1', '--js-flags=--max-opt=1'];

/** It ends with this process. */
function launched(): Promise<Browser> {
  const executablePath = findHeadless();
  if (executablePath === null) throw new Error('there is no browser here');
  browser ??= chromium.launch({ executablePath, args: [...CHROMIUM_ARGS, ...SHORT_LIVED] });
  return browser;
}
