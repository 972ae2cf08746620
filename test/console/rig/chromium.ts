// Where a Chromium is on this machine, and how it is started for a test.
import { existsSync } from 'node:fs';

const NAMED = process.env['CHROMIUM_PATH'];

const BROWSERS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The same engine without a user interface: tests need a quarter less CPU time. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell';

/** The whole browser. Null: there is none here. */
export function findChromium(): string | null {
  return firstOf([NAMED, ...BROWSERS]);
}

/** For tests of behaviour. Null: there is none here, and the console is not tested. */
export function findHeadless(): string | null {
  return firstOf([NAMED, HEADLESS_SHELL, ...BROWSERS]);
}

function firstOf(places: readonly (string | undefined)[]): string | null {
  return places.find((place) => place !== undefined && place !== '' && existsSync(place)) ?? null;
}

/** No request of the browser's own, and nothing that needs a screen, much shared memory or a kernel's sandbox. */
export const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
