/**
 * Measures a page of the console during scrolling: frames and long tasks from the page, memory from the browser and the
 * operating system.
 */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { monotonic } from '../talk.ts';
import { residentMb } from '../usage.ts';

/** Fast scrolling with the mouse wheel: pixels per turn, and turns per second. */
const NOTCH = 240;
const EVERY_MS = 1_000 / 40;
/** If scrolling has no effect for this long, the page hangs. */
const STUCK_MS = 30_000;

export type Frames = {
  /** Intervals between frames. */
  intervals: number[];
  /** Tasks of the main thread longer than 50 ms. */
  longTasks: number[];
};

/** Starts recording. */
export async function recordFrames(page: Page): Promise<() => Promise<Frames>> {
  await page.evaluate(`
    globalThis.recorded = { intervals: [], longTasks: [] };
    let last = performance.now();
    const frame = (now) => {
      recorded.intervals.push(now - last);
      last = now;
      globalThis.recording = requestAnimationFrame(frame);
    };
    globalThis.recording = requestAnimationFrame(frame);
    globalThis.observing = new PerformanceObserver((list) =>
      recorded.longTasks.push(...list.getEntries().map(({ duration }) => duration)));
    observing.observe({ type: 'longtask' });
  `);
  // The first frame started before the recording.
  return () =>
    page.evaluate<Frames>(`
      cancelAnimationFrame(recording);
      observing.disconnect();
      ({ ...recorded, intervals: recorded.intervals.slice(1) });
    `);
}

type Place = { top: number; end: number };

/** Scrolls until `text` is visible at that end of the list. */
export async function scrollTo(page: Page, end: 'begin' | 'end', text: string, signal: AbortSignal): Promise<void> {
  const list = page.getByRole('log');
  const box = await list.boundingBox();
  if (box === null) throw new Error('The page has no list to scroll.');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const sought = list.getByText(text, { exact: true });
  let [moved, before] = [monotonic(), await placeOf(page)];
  for (let turned = 0, due = monotonic(); ; turned += 1) {
    signal.throwIfAborted();
    await page.mouse.wheel(0, end === 'begin' ? -NOTCH : NOTCH);
    due = Math.max(due + EVERY_MS, monotonic());
    await pause(Math.max(0, due - monotonic()));
    // Measuring takes frame time, too.
    if (turned % 40 !== 39) continue;
    const now = await placeOf(page);
    if (isAt(now, end) && (await sought.isVisible())) return;
    if (now.top !== before.top || now.end !== before.end) [moved, before] = [monotonic(), now];
    else if (monotonic() - moved > STUCK_MS) throw new Error(`The list stopped scrolling before its ${end}.`);
  }
}

function isAt({ top, end }: Place, sought: 'begin' | 'end'): boolean {
  return sought === 'begin' ? top < 1 : end - top < 1;
}

function placeOf(page: Page): Promise<Place> {
  return page.evaluate<Place>(`(() => {
    const { scrollTop: top, scrollHeight, clientHeight } = document.querySelector('[role=log]');
    return { top, end: scrollHeight - clientHeight };
  })()`);
}

export type Weight = {
  /** The JavaScript heap after a garbage collection. */
  heapMb: number;
  nodes: number;
  /** Private memory of the page's process, and its share of shared memory. */
  rendererMb: number;
  /** The same for all processes of the browser. */
  browserMb: number;
};

export async function weigh(browser: Browser, page: Page): Promise<Weight> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize } = await cdp.send('Runtime.getHeapUsage');
  const { nodes } = await cdp.send('Memory.getDOMCounters');
  await cdp.detach();
  const sizes = await sizesOf(browser);
  return {
    heapMb: usedSize / 2 ** 20,
    nodes,
    rendererMb: sizes.find(({ type }) => type === 'renderer')?.megabytes ?? Number.NaN,
    browserMb: sizes.reduce((sum, { megabytes }) => sum + megabytes, 0),
  };
}

/** The busiest first: spare renderer processes have done nothing yet. */
async function sizesOf(browser: Browser): Promise<{ type: string; megabytes: number }[]> {
  const cdp: CDPSession = await browser.newBrowserCDPSession();
  const { processInfo } = await cdp.send('SystemInfo.getProcessInfo');
  await cdp.detach();
  return processInfo
    .toSorted((a, b) => b.cpuTime - a.cpuTime)
    .map(({ type, id }) => ({ type, megabytes: proportionalMb(id) }));
}

/** Proportional set size (PSS) if the system provides it; otherwise the resident memory. */
function proportionalMb(pid: number): number {
  const file = `/proc/${pid}/smaps_rollup`;
  if (!existsSync(file)) return residentMb(pid);
  const rollup = readFileSync(file, 'utf8');
  return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1]) / 1024;
}
