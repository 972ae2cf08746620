/** Pages of the console as a user with a slow connection and a slow machine gets them first, and while nothing happens. */
import { chromium } from 'playwright-core';
import { consoleFolder } from '../../src/package-files.ts';
import { CHROMIUM_ARGS, findHeadless } from '../../test/console/rig/chromium.ts';
import { postAll, untilEnded, withSystems, type Bench, type Scenario } from '../bench.ts';
import { loadSlowly, type Loaded } from '../console/lighthouse.ts';
import { requestsPerMinute } from '../console/quiet.ts';
import { alone, atMost, median, type Figure } from '../figures.ts';
import type { System } from '../system.ts';

const CONTEXTS = 60;

/** Those that are loaded slowly, by the name of the page. */
const LOADED = { chat: '/contexts/', jobs: '/jobs', overview: '/overview' };
const QUIET = { ...LOADED, inbox: '/inbox', schedules: '/schedules', access: '/access', settings: '/settings' };

export const pages: Scenario = {
  about: 'pages of the console: loaded slowly (Lighthouse, which npm downloads), and requests while nothing happens',
  run: (bench) =>
    withSystems(bench, ['nightshift'], async ([system]) => {
      const executable = findHeadless();
      if (system === undefined) return [];
      if (executable === null || consoleFolder() === null) {
        bench.say('skipped: Chromium was not found (set CHROMIUM_PATH), or the console is not built');
        return [];
      }
      const context = await fill(bench, system);
      const addressOf = (path: string): string => `${system.url}${path === LOADED.chat ? `${path}${context}` : path}`;
      return [...(await loadAll(bench, executable, addressOf)), ...(await quietAll(bench, executable, addressOf))];
    }),
};

/** Contexts with a finished job each. Returns the id of one. */
async function fill(bench: Bench, system: System): Promise<string> {
  await system.startWorker(10);
  const contexts = await system.createContexts(CONTEXTS);
  await bench.provider.ask('play', { steps: 2, tokens: 40, tokenMs: 0 });
  await postAll(bench, system, contexts);
  await untilEnded(bench, system, contexts);
  return contexts[0] ?? '';
}

async function loadAll(bench: Bench, executable: string, addressOf: (path: string) => string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, path] of Object.entries(LOADED)) {
    const rounds: Loaded[] = [];
    for (let round = 0; round < bench.rounds; round += 1)
      rounds.push(await loadSlowly(addressOf(path), executable, bench.signal));
    const of = (member: keyof Loaded): number => median(rounds.map((loaded) => loaded[member]));
    bench.say(`${name}: usable after ${rounds.map(({ interactiveMs }) => Math.round(interactiveMs)).join(', ')} ms`);
    figures.push(
      alone(`${name}: first paint`, 'ms', of('firstPaintMs')),
      alone(`${name}: largest paint`, 'ms', of('largestPaintMs')),
      alone(`${name}: usable`, 'ms', of('interactiveMs'), atMost(2_500)),
      alone(`${name}: blocked by long tasks until then`, 'ms', of('blockingMs')),
      alone(`${name}: loaded`, 'kB', of('kilobytes')),
      alone(`${name}: requests`, '', of('requests')),
    );
  }
  return figures;
}

async function quietAll(bench: Bench, executable: string, addressOf: (path: string) => string): Promise<Figure[]> {
  const browser = await chromium.launch({ executablePath: executable, args: CHROMIUM_ARGS });
  try {
    const counts = await requestsPerMinute(browser, Object.values(QUIET).map(addressOf), bench.signal);
    return Object.keys(QUIET).map((name, at) =>
      alone(`${name}: requests while nothing happens`, '/min', counts[at] ?? null, atMost(12)),
    );
  } finally {
    await browser.close();
  }
}
