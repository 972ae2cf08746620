/** The steps of a job in order, with the arguments and the result of each tool call. */
import { useQuery } from '@tanstack/react-query';
import type { Job, JobStep } from 'nightshift/client';
import { ListTree } from 'lucide-react';
import { useState } from 'react';
import { jobStepsQuery } from '../../../data/live/job-steps.ts';
import { Empty } from '../../../ui/layout/empty.tsx';
import { LongList } from '../../../ui/layout/long-list.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { jobWords, timelineWords } from '../../../words.ts';
import { StepItem } from './step-item.tsx';
import css from './steps.module.css';

const words = jobWords.steps;

/** If there are at most so many tool calls, all are open at first. Each one that is open costs two requests. */
const OPEN_CALLS = 8;

export function StepsTab({ job }: { job: Job }) {
  const { data, isError, error, refetch } = useQuery(jobStepsQuery(job.id));
  if (data !== undefined) return <Steps job={job} steps={data.steps} isWhole={data.isWhole} />;
  return isError ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Skeleton lines={6} height={40} />;
}

type Props = { job: Job; steps: readonly JobStep[]; isWhole: boolean };

function Steps({ job, steps, isWhole }: Props) {
  // Also of steps that are not in the document.
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const opensCalls = steps.filter(({ kind }) => kind === 'tool').length <= OPEN_CALLS;
  const turn = (key: string): void => {
    const next = new Set(turned);
    if (!next.delete(key)) next.add(key);
    setTurned(next);
  };
  if (steps.length === 0 && isWhole) return <Empty icon={<ListTree aria-hidden="true" />} title={words.empty} />;
  return (
    <>
      <LongList ordered label={words.list} className={css.steps} items={steps} itemKey={keyOf} more={!isWhole}>
        {(step, place, at) => {
          const key = keyOf(step, at);
          const isOpen = (opensCalls && step.kind === 'tool') !== turned.has(key);
          return <StepItem key={key} place={place} job={job} step={step} isOpen={isOpen} onTurn={() => turn(key)} />;
        }}
      </LongList>
      {!isWhole && <p role="status">{timelineWords.loadingMore(steps.length)}</p>}
    </>
  );
}

/** Steps are added at the end; the calls of one answer may still change places. */
function keyOf({ tool_call_id: callId }: JobStep, at: number): string {
  return callId ?? `#${at}`;
}
