/**
 * The steps of a job in the cache, read by page (see `step-pages.ts`). The pages of a long timeline are shown as they
 * arrive.
 */
import { queryOptions, type QueryClient } from '@tanstack/react-query';
import type { JobStep, ToolProgress } from 'nightshift/client';
import { client } from '../client.ts';
import { keys } from '../query/keys.ts';
import { at } from '../query/pages-of.ts';
import { readStepPages, type StepPage } from './step-pages.ts';

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
      const read = async (cursor: string | undefined): Promise<StepPage> => {
        const page = await client.jobs.steps(id, { limit: PAGE, ...at(cursor) }, { signal }).page();
        return { steps: page.data, next: page.next_cursor };
      };
      let shownAt = -Infinity;
      const show = (pages: readonly StepPage[]): void => {
        if (known?.isWhole === true || performance.now() - shownAt < SHOWN_MS) return;
        shownAt = performance.now();
        cache.setQueryData<JobSteps>(queryKey, stepsOf(pages, false));
      };
      return stepsOf(await readStepPages(known?.pages ?? [], read, show), true);
    },
    // Pages that are kept stay the same objects.
    structuralSharing: false,
  });
}

function stepsOf(pages: readonly StepPage[], isWhole: boolean): JobSteps {
  return { steps: pages.flatMap(({ steps }) => steps), pages, isWhole };
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
