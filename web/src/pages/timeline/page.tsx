/** Timeline of a job: its steps as a chart and as a table, updated live. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { isFinished, type Job } from 'nightshift/client';
import { shortId } from '../../data/format.ts';
import { jobQuery } from '../../data/query/jobs.ts';
import { buttonClass } from '../../ui/forms/button.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { Duration, RelativeTime } from '../../ui/text/time.tsx';
import { Tokens } from '../../ui/text/tokens.tsx';
import { CancelJob } from './cancel-job.tsx';
import { Timeline } from './timeline.tsx';
import { timelineWords } from '../../words.ts';
import css from './timeline.module.css';

const { facts } = timelineWords;

export function TimelinePage() {
  const { jobId } = useParams({ from: '/jobs/$jobId' });
  // `Timeline` reads it again after events.
  const job = useQuery({ ...jobQuery(jobId), refetchInterval: false });
  const title = timelineWords.title(shortId(jobId));
  if (job.data !== undefined) return <TimelineOf key={jobId} job={job.data} title={title} />;
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

function TimelineOf({ job, title }: { job: Job; title: string }) {
  return (
    <Page wide title={title} about={timelineWords.jobKinds[job.kind]} actions={<Actions job={job} />}>
      <dl className={css.facts}>
        <div>
          <dt>{facts.status}</dt>
          <dd>
            <StatusBadge status={job.status} />
          </dd>
        </div>
        <div>
          <dt>{facts.created}</dt>
          <dd>
            <RelativeTime at={job.created_at} />
          </dd>
        </div>
        {job.starts_at !== null && (
          <div>
            <dt>{job.status === 'delayed' ? facts.starts : facts.due}</dt>
            <dd>
              <RelativeTime at={job.starts_at} />
            </dd>
          </div>
        )}
        <div>
          <dt>{facts.duration}</dt>
          <dd>
            <Duration from={job.starts_at ?? job.created_at} to={job.finished_at} />
          </dd>
        </div>
        <div>
          <dt>{facts.modelCalls}</dt>
          <dd>{job.steps}</dd>
        </div>
        <div>
          <dt>{facts.tokens}</dt>
          <dd>
            <Tokens usage={job.usage} />
          </dd>
        </div>
        <div>
          <dt>{facts.branch}</dt>
          <dd>{job.branch}</dd>
        </div>
        <div>
          <dt>{facts.id}</dt>
          <dd className={css.id}>
            <code>{job.id}</code>
            <CopyButton read={() => job.id} label={facts.copyId} />
          </dd>
        </div>
      </dl>
      {job.error !== null && (
        <p className={css.failed} role="status">
          {job.error.message} (<code>{job.error.code}</code>)
        </p>
      )}
      <Timeline job={job} />
    </Page>
  );
}

function Actions({ job }: { job: Job }) {
  return (
    <>
      <Link to="/contexts/$contextId" params={{ contextId: job.context_id }} className={buttonClass({})}>
        {timelineWords.chat}
      </Link>
      <Link to="/workers/$workerId/tree" params={{ workerId: job.worker_id }} className={buttonClass({})}>
        {timelineWords.tree}
      </Link>
      {job.parent_job_id !== null && (
        <Link to="/jobs/$jobId" params={{ jobId: job.parent_job_id }} className={buttonClass({})}>
          {timelineWords.parentJob}
        </Link>
      )}
      {!isFinished(job) && <CancelJob jobId={job.id} />}
    </>
  );
}
