/** The steps of a job in order, with the arguments and the result of each tool call. */
import { useQuery } from '@tanstack/react-query';
import type { Job, JobStep } from 'nightshift/client';
import { ListTree } from 'lucide-react';
import { useState } from 'react';
import { jobStepsQuery } from '../../../data/live/job-steps.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Empty } from '../../../ui/layout/empty.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { jobWords, timelineWords } from '../../../words.ts';
import { StepItem } from './step-item.tsx';
import css from './steps.module.css';

const words = jobWords.steps;

/** Steps that are shown at first, and with each press of a button. */
const AT_ONCE = 100;
/** If there are at most so many tool calls, all are open at first. Each one that is open costs two requests. */
const OPEN_CALLS = 8;

export function StepsTab({ job }: { job: Job }) {
  const { data, isError, error, refetch } = useQuery(jobStepsQuery(job.id));
  if (data !== undefined) return <Steps job={job} steps={data.steps} isWhole={data.isWhole} />;
  return isError ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Skeleton lines={6} height={40} />;
}

type Props = { job: Job; steps: readonly JobStep[]; isWhole: boolean };

function Steps({ job, steps, isWhole }: Props) {
  const [shown, setShown] = useState(AT_ONCE);
  const opensCalls = steps.filter(({ kind }) => kind === 'tool').length <= OPEN_CALLS;
  if (steps.length === 0 && isWhole) return <Empty icon={<ListTree aria-hidden="true" />} title={words.empty} />;
  return (
    <>
      <ol className={css.steps} aria-label={words.list}>
        {steps.slice(0, shown).map((step, at) => (
          <StepItem key={keyOf(step, at)} job={job} step={step} isOpenAtFirst={opensCalls && step.kind === 'tool'} />
        ))}
      </ol>
      {!isWhole && <p role="status">{timelineWords.loadingMore(steps.length)}</p>}
      {steps.length > shown && (
        <Button onClick={() => setShown(shown + AT_ONCE)}>{words.more(steps.length - shown)}</Button>
      )}
    </>
  );
}

/** Steps are added at the end; the calls of one answer may still change places. */
function keyOf({ tool_call_id: callId }: JobStep, at: number): string {
  return callId ?? `#${at}`;
}
