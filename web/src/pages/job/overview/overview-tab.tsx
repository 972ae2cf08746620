/** The job in short: why it has its status, who asked for it, where the time and the tokens went, what failed. */
import { useQuery } from '@tanstack/react-query';
import type { Job } from 'nightshift/client';
import { useMemo } from 'react';
import { jobStepsQuery } from '../../../data/live/job-steps.ts';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { rowsOf } from '../timeline/rows/rows.ts';
import { Failures } from './failures.tsx';
import css from './overview.module.css';
import { RequestCard } from './request-card.tsx';
import { StatusCard } from './status-card.tsx';
import { UsageCard } from './usage-card.tsx';

export function OverviewTab({ job, firstTokenAt }: { job: Job; firstTokenAt: number | null }) {
  const { data, isError, error, refetch } = useQuery(jobStepsQuery(job.id));
  const rows = useMemo(() => rowsOf(job, data?.steps ?? [], firstTokenAt), [job, data, firstTokenAt]);
  return (
    <div className={css.cards}>
      <StatusCard job={job} steps={data?.steps ?? null} rows={rows} firstTokenAt={firstTokenAt} />
      <RequestCard job={job} />
      <UsageCard usage={job.usage} />
      <div className={css.whole}>
        {data === undefined && !isError && <Skeleton lines={3} height={24} />}
        {isError && <ErrorState error={error} onRetry={() => void refetch()} />}
        {data !== undefined && <Failures steps={data.steps} />}
      </div>
    </div>
  );
}
