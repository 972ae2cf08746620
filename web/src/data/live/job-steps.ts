/**
 * The steps of a job in the cache. A timeline grows at its end, so pages whose steps have all ended are read once; a
 * change costs the pages that may differ. The pages of a long timeline are shown as they arrive.
 */
import { queryOptions, type QueryClient } from '@tanstack/react-query';
import type { JobStep, ToolProgress } from 'nightshift/client';
import { client } from '../client.ts';
import { keys } from '../query/keys.ts';
import { at } from '../query/pages-of.ts';

type StepPage = { steps: readonly JobStep[]; next: string | null };

/** `isWhole`: all pages were read. */
export type JobSteps = { steps: readonly JobStep[]; pages: readonly StepPage[]; isWhole: boolean };

const PAGE = 200;
/** Pages that arrive are shown no more often than this, in milliseconds. */
const SHOWN_MS = 1_000;

/** Not polled: see `FollowJob`. */
export function jobStepsQuery(id: string) {
  const queryKey = keys.steps(id);
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client: cache }): Promise<JobSteps> => {
      const known = cache.getQueryData<JobSteps>(queryKey);
      const pages = settledPages(known?.pages ?? []);
      let shownAt = -Infinity;
      for (;;) {
        const cursor = pages.at(-1)?.next ?? undefined;
        const page = await client.jobs.steps(id, { limit: PAGE, ...at(cursor) }, { signal }).page();
        pages.push({ steps: page.data, next: page.next_cursor });
        if (page.next_cursor === null) return stepsOf(pages, true);
        if (known?.isWhole === true || performance.now() - shownAt < SHOWN_MS) continue;
        shownAt = performance.now();
        cache.setQueryData<JobSteps>(queryKey, stepsOf(pages, false));
      }
    },
    // Pages that are kept stay the same objects.
    structuralSharing: false,
  });
}

function stepsOf(pages: readonly StepPage[], isWhole: boolean): JobSteps {
  return { steps: pages.flatMap(({ steps }) => steps), pages: [...pages], isWhole };
}

/** The first pages that no event changes any more. */
function settledPages(pages: readonly StepPage[]): StepPage[] {
  const open = pages.findIndex(({ steps, next }) => next === null || !steps.every(isSettled));
  return pages.slice(0, open < 0 ? pages.length : open);
}

function isSettled({ ended_at, child }: JobStep): boolean {
  return ended_at !== null && (child === null || child.finished_at !== null);
}

type Reported = { job_id: string; tool_call_id: string; progress: ToolProgress };

/** The event has all of it: nothing is read. */
export function keepStepProgress(cache: QueryClient, { job_id, tool_call_id, progress }: Reported): void {
  cache.setQueryData<JobSteps>(keys.steps(job_id), (known) => {
    const isIn = ({ steps }: StepPage): boolean => steps.some((step) => step.tool_call_id === tool_call_id);
    if (known === undefined || !known.pages.some(isIn)) return undefined;
    const renewed = (step: JobStep): JobStep => (step.tool_call_id === tool_call_id ? { ...step, progress } : step);
    const pages = known.pages.map((page) => (isIn(page) ? { ...page, steps: page.steps.map(renewed) } : page));
    return stepsOf(pages, known.isWhole);
  });
}
