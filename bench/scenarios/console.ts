/** Scrolls through a context of 10,000 messages in the console and measures smoothness and memory. */
import { chromium, type Browser, type Page } from 'playwright-core';
import { consoleFolder } from '../../src/package-files.ts';
import { createClient } from '../../src/client/index.ts';
import { CHROMIUM_ARGS, findChromium } from '../../test/console/rig/chromium.ts';
import { withSystems, type Bench, type Scenario } from '../bench.ts';
import { FIRST, lastOf, mixedHistory } from '../console/history.ts';
import { recordFrames, scrollTo, weigh, type Frames, type Weight } from '../console/page.ts';
import { alone, atLeast, atMost, median, percentile, type Figure } from '../figures.ts';

const MESSAGES = 10_000;
const SIZE = { width: 1280, height: 800 };

export const consolePage: Scenario = {
  about: 'a browser with a context of 10,000 messages, scrolled through',
  run: (bench) =>
    withSystems(bench, ['nightshift'], async ([system]) => {
      const executablePath = findChromium();
      if (system === undefined) return [];
      if (executablePath === null || consoleFolder() === null) {
        bench.say('skipped: Chromium was not found (set CHROMIUM_PATH), or the console is not built');
        return [];
      }
      await system.startWorker(1);
      const { id } = await createClient({ url: system.url }).contexts.import(mixedHistory(MESSAGES));
      const browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGS });
      try {
        return await measure(bench, browser, `${system.url}/contexts/${id}`);
      } finally {
        await browser.close();
      }
    }),
};

async function measure(bench: Bench, browser: Browser, address: string): Promise<Figure[]> {
  const page = await browser.newPage({ viewport: SIZE });
  const empty = await weigh(browser, page);
  await page.goto(address);
  await page.getByText(lastOf(MESSAGES), { exact: true }).waitFor();
  const opened = await weigh(browser, page);
  const up = await scroll(bench, page, 'begin');
  const above = await weigh(browser, page);
  const down = await scroll(bench, page, 'end');
  const below = await weigh(browser, page);
  return figuresOf([up, down], [opened, above, below], empty);
}

async function scroll(bench: Bench, page: Page, to: 'begin' | 'end'): Promise<Frames> {
  const stop = await recordFrames(page);
  await scrollTo(page, to, to === 'begin' ? FIRST : lastOf(MESSAGES), bench.signal);
  const frames = await stop();
  bench.say(`to the ${to}: ${frames.intervals.length} frames in ${(sum(frames.intervals) / 1_000).toFixed(0)} s`);
  return frames;
}

function figuresOf(scrolled: readonly Frames[], weighed: readonly Weight[], empty: Weight): Figure[] {
  const intervals = scrolled.flatMap((frames) => frames.intervals);
  const longTasks = scrolled.flatMap((frames) => frames.longTasks);
  const most = (of: keyof Weight): number => Math.max(...weighed.map((weight) => weight[of]));
  const fluent = (1_000 * intervals.length) / sum(intervals);
  return [
    alone('frames while scrolling through 10,000 messages and back', '/s', fluent, atLeast(50)),
    alone('interval between frames, median', 'ms', median(intervals)),
    alone('interval between frames, p95', 'ms', percentile(intervals, 0.95)),
    alone('tasks of more than 50 ms', '', longTasks.length),
    alone('the longest task', 'ms', Math.max(0, ...longTasks)),
    alone('maximum memory of the page’s process', 'MB', most('rendererMb'), atMost(300)),
    alone('of which JavaScript heap', 'MB', most('heapMb')),
    alone('memory of the whole browser', 'MB', most('browserMb')),
    alone('the same with an empty page', 'MB', empty.browserMb),
    alone('DOM nodes', '', most('nodes')),
  ];
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
