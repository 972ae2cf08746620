/**
 * The steps of a job, by page. Steps are added at the end, and the cursor of a page is their number, so a page keeps its
 * place: one whose steps have all ended is read once, and a change costs the pages that may differ.
 */
import type { JobStep } from 'nightshift/client';

export type StepPage = { steps: readonly JobStep[]; next: string | null };

/** Reads the pages that are not known or may have changed. `onMore`: all pages that are known while more are read. */
export async function readStepPages(
  known: readonly StepPage[],
  read: (cursor: string | undefined) => Promise<StepPage>,
  onMore: (pages: readonly StepPage[]) => void,
): Promise<readonly StepPage[]> {
  const settled = settledPages(known);
  const pages: StepPage[] = [];
  for (;;) {
    const before = known[pages.length];
    if (before !== undefined && settled.has(before)) {
      pages.push(before);
      continue;
    }
    const page = await read(pages.at(-1)?.next ?? undefined);
    pages.push(page);
    if (page.next === null) return pages;
    onMore([...pages, ...known.slice(pages.length)]);
  }
}

/**
 * The pages that no event changes any more. The calls of one answer are ordered by their start, so the steps after one
 * that has not ended may still move. The job of a child worker may end long after its call: it does not move.
 */
function settledPages(pages: readonly StepPage[]): ReadonlySet<StepPage> {
  const open = pages.findIndex(({ steps, next }) => next === null || steps.some(({ ended_at }) => ended_at === null));
  const ended = open < 0 ? pages : pages.slice(0, open);
  return new Set(ended.filter(({ steps }) => steps.every(({ child }) => child === null || child.finished_at !== null)));
}
