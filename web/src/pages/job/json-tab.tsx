/** The job and its steps as the API returns them. */
import { useQuery } from '@tanstack/react-query';
import type { Job } from 'nightshift/client';
import { jobStepsQuery } from '../../data/live/job-steps.ts';
import { Card } from '../../ui/layout/card.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { Json } from '../../ui/text/json.tsx';
import { jobWords } from '../../words.ts';
import css from './job.module.css';

const words = jobWords.json;

/** Steps that are shown. */
const SHOWN = 200;
const MOST = 640;

export function JsonTab({ job }: { job: Job }) {
  const { data, isError, error, refetch } = useQuery(jobStepsQuery(job.id));
  const address = `/api/jobs/${job.id}`;
  return (
    <div className={css.stack}>
      <Card title={words.job} actions={<Open href={address} />}>
        <Json value={job} label={words.job} most={MOST} />
      </Card>
      <Card title={words.steps} actions={<Open href={`${address}/steps`} />}>
        {data === undefined && !isError && <Skeleton />}
        {isError && <ErrorState error={error} onRetry={() => void refetch()} />}
        {data !== undefined && <Json value={data.steps.slice(0, SHOWN)} label={words.steps} most={MOST} />}
        {data !== undefined && data.steps.length > SHOWN && (
          <p className={css.soft}>{words.shown(SHOWN, data.steps.length)}</p>
        )}
      </Card>
    </div>
  );
}

function Open({ href }: { href: string }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" className={css.soft}>
      {words.open}
    </a>
  );
}
