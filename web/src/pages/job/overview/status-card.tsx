/** The status of the job, and the reason for it: of an unfinished job as the API explains it. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isFinished, type Job } from 'nightshift/client';
import { contextStateQuery } from '../../../data/query/contexts.ts';
import { Card } from '../../../ui/layout/card.tsx';
import { StatusBadge } from '../../../ui/text/status-badge.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import { jobWords } from '../../../words.ts';
import { Fact } from '../fact.tsx';
import css from '../job.module.css';

const words = jobWords.overview;

export function StatusCard({ job }: { job: Job }) {
  const { facts } = jobWords;
  return (
    <Card title={words.status}>
      <dl className={css.list}>
        <Fact name={facts.status}>
          <StatusBadge status={job.status} />
        </Fact>
        {!isFinished(job) && <Why job={job} />}
        {job.error !== null && (
          <Fact name={words.why}>
            {job.error.message} (<code>{job.error.code}</code>)
          </Fact>
        )}
        <Fact name={words.attempt}>{job.attempt}</Fact>
        {job.retry_at !== null && !isFinished(job) && (
          <Fact name={words.nextAttempt}>
            <RelativeTime at={job.retry_at} />
          </Fact>
        )}
        <Fact name={words.childJobs}>
          <Link to="/jobs" search={{ parent_job_id: job.id }}>
            {words.listChildJobs}
          </Link>
        </Fact>
      </dl>
    </Card>
  );
}

/** The context tells the reason for its current job only. */
function Why({ job }: { job: Job }) {
  const { data } = useQuery(contextStateQuery(job.context_id));
  return data === undefined || data.job_id !== job.id ? null : <Fact name={words.why}>{data.why}</Fact>;
}
