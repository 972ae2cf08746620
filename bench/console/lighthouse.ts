/**
 * What Lighthouse says of a page that is loaded for the first time, over a slow connection, on a slow machine. It is run
 * as npm publishes it, in a process of its own: it is large, and only needed here.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';
import { CHROMIUM_ARGS } from '../../test/console/rig/chromium.ts';

const PACKAGE = 'lighthouse@13.5.0';

/** Its own preset for a phone with a slow 4G connection and a processor that is four times slower, applied by the browser. */
const THROTTLING = ['--throttling-method=devtools', '--form-factor=mobile'];

const numeric = Type.Object({ numericValue: Type.Number() });

const Report = Type.Object({
  audits: Type.Object({
    'first-contentful-paint': numeric,
    'largest-contentful-paint': numeric,
    'total-blocking-time': numeric,
    interactive: numeric,
    'total-byte-weight': numeric,
    'network-requests': Type.Object({ details: Type.Object({ items: Type.Array(Type.Unknown()) }) }),
  }),
});

/** Milliseconds from the beginning of the navigation, and kilobytes as they were sent. */
export type Loaded = {
  firstPaintMs: number;
  largestPaintMs: number;
  /** When the page answers to the user without delay. */
  interactiveMs: number;
  /** The sum of what tasks took beyond 50 ms, until then. */
  blockingMs: number;
  kilobytes: number;
  requests: number;
};

/** Throws if Lighthouse cannot be installed or fails. */
export async function loadSlowly(address: string, chromium: string, signal: AbortSignal): Promise<Loaded> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nightshift-lighthouse-'));
  try {
    const file = path.join(folder, 'report.json');
    await run(['--output=json', `--output-path=${file}`, ...THROTTLING, address], chromium, signal);
    return toLoaded(Value.Parse(Report, JSON.parse(await readFile(file, 'utf8'))));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(args: readonly string[], chromium: string, signal: AbortSignal): Promise<void> {
  const flags = ['--headless', ...CHROMIUM_ARGS].join(' ');
  const all = ['exec', '--yes', `--package=${PACKAGE}`, '--', 'lighthouse', ...args, '--quiet'];
  const child = spawn('npm', [...all, '--only-categories=performance', `--chrome-flags=${flags}`], {
    env: { ...process.env, CHROME_PATH: chromium },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2_000)));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${PACKAGE} ended with ${code}: ${said.trim()}`);
}

function toLoaded({ audits }: Static<typeof Report>): Loaded {
  return {
    firstPaintMs: audits['first-contentful-paint'].numericValue,
    largestPaintMs: audits['largest-contentful-paint'].numericValue,
    interactiveMs: audits.interactive.numericValue,
    blockingMs: audits['total-blocking-time'].numericValue,
    kilobytes: audits['total-byte-weight'].numericValue / 1_000,
    requests: audits['network-requests'].details.items.length,
  };
}
