/** The page of a job. The address keeps the tab: `?tab=`. While the job is unfinished, all tabs are updated live. */
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { isFinished, type Job } from 'nightshift/client';
import { useState } from 'react';
import { shortId } from '../../data/format.ts';
import { FollowJob } from '../../data/live/follow-job.tsx';
import { jobQuery } from '../../data/query/jobs.ts';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { timelineWords } from '../../words.ts';
import { Actions } from './actions.tsx';
import { Head } from './head.tsx';
import { JobTabs } from './job-tabs.tsx';

export function JobPage() {
  const { jobId } = useParams({ from: '/jobs/$jobId' });
  // `FollowJob` reads it again after events.
  const job = useQuery({ ...jobQuery(jobId), refetchInterval: false });
  const title = timelineWords.title(shortId(jobId));
  if (job.data !== undefined) return <Known key={jobId} job={job.data} title={title} />;
  return (
    <Page title={title}>
      {job.isError ? (
        <ErrorState error={job.error} onRetry={() => void job.refetch()} />
      ) : (
        <Skeleton lines={6} height={28} />
      )}
    </Page>
  );
}

function Known({ job, title }: { job: Job; title: string }) {
  const [firstTokenAt, setFirstTokenAt] = useState<number | null>(null);
  return (
    <Page wide title={title} about={timelineWords.jobKinds[job.kind]} actions={<Actions job={job} />}>
      {!isFinished(job) && <FollowJob jobId={job.id} contextId={job.context_id} onFirstToken={setFirstTokenAt} />}
      <Head job={job} />
      <JobTabs job={job} firstTokenAt={firstTokenAt} />
    </Page>
  );
}
