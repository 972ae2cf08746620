/** What can be done with a job, and where else it is shown. */
import { Link, useSearch } from '@tanstack/react-router';
import { Link as LinkIcon } from 'lucide-react';
import { isFinished, type Job } from 'nightshift/client';
import { useMay } from '../../data/query/session.ts';
import { buttonClass } from '../../ui/forms/button.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { jobWords } from '../../words.ts';
import { CancelJob } from './cancel-job.tsx';
import { CopyMenu } from './copy/copy-menu.tsx';
import { canBeReplayed, ReplayButton } from './replay/replay-button.tsx';
import { canBeRetried, RetryJob } from './retry-job.tsx';

const words = jobWords.actions;

export function Actions({ job }: { job: Job }) {
  const { tab } = useSearch({ from: '/jobs/$jobId' });
  const mayRun = useMay('run');
  const mayConfigure = useMay('configure');
  return (
    <>
      <CopyButton
        read={() => globalThis.location.href}
        label={words.copyLink}
        icon={<LinkIcon aria-hidden="true" />}
        size="medium"
      />
      <CopyMenu job={job} />
      <Link to="/contexts/$contextId" params={{ contextId: job.context_id }} className={buttonClass({})}>
        {words.chat}
      </Link>
      <Link to="/workers/$workerId/tree" params={{ workerId: job.worker_id }} className={buttonClass({})}>
        {words.tree}
      </Link>
      {job.parent_job_id !== null && (
        <Link
          to="/jobs/$jobId"
          params={{ jobId: job.parent_job_id }}
          search={tab === undefined ? {} : { tab }}
          className={buttonClass({})}
        >
          {words.parentJob}
        </Link>
      )}
      {mayRun && canBeRetried(job) && <RetryJob job={job} />}
      {mayRun && mayConfigure && canBeReplayed(job) && <ReplayButton job={job} />}
      {mayRun && !isFinished(job) && <CancelJob jobId={job.id} />}
    </>
  );
}
