/** Shows how many jobs will be retried, and which not; then what happened to each. */
import { Link } from '@tanstack/react-router';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { RetriedJob } from 'nightshift/client';
import { useState } from 'react';
import { shortId } from '../../../data/format.ts';
import { keys } from '../../../data/query/keys.ts';
import { foreseeRetry, retryJobs, type JobTarget } from '../../../data/retry-jobs.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { FormDialog } from '../../../ui/layout/form-dialog.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { showNotice } from '../../../ui/layout/toaster.tsx';
import { commonWords, jobsWords } from '../../../words.ts';
import css from '../jobs.module.css';

const words = jobsWords.retry;

type Props = { target: JobTarget; onClose: () => void; onDone: () => void };

export function RetryDialog({ target, onClose, onDone }: Props) {
  const cache = useQueryClient();
  const foreseen = useQuery({
    queryKey: keys.retry(target),
    queryFn: ({ signal }) => foreseeRetry(target, signal),
    staleTime: 0,
    gcTime: 0,
  });
  const [soFar, setSoFar] = useState(0);
  const retry = useMutation({
    mutationFn: () => retryJobs(target, (jobs) => setSoFar(retriedOf(jobs))),
    onSuccess: (jobs) => {
      const retried = retriedOf(jobs);
      if (retried < jobs.length) return;
      showNotice(words.done(retried));
      onDone();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.jobs }),
  });
  if (retry.data !== undefined) return <Results jobs={retry.data} onClose={onDone} />;
  const { jobs, more } = foreseen.data ?? NOTHING;
  const retried = retriedOf(jobs);
  if (foreseen.data !== undefined && retried === 0)
    return (
      <Dialog
        open
        onClose={onClose}
        title={words.none}
        description={jobs.length === 0 ? words.noneAbout : words.refused(jobs.length, more)}
        actions={<Button onClick={onClose}>{commonWords.close}</Button>}
      >
        <Refused jobs={jobs} />
      </Dialog>
    );
  return (
    <FormDialog
      title={target.kind === 'matching' ? words.matching : words.selected}
      description={words.about}
      submit={words.submit(retried === 0 ? null : retried, more)}
      canSubmit={retried > 0}
      saving={{ isPending: retry.isPending, error: retry.error ?? foreseen.error }}
      onSubmit={() => retry.mutate()}
      onClose={onClose}
    >
      {foreseen.isPending && <Skeleton lines={2} />}
      {retried > 0 && <p>{words.goes(retried, more)}</p>}
      {jobs.length > retried && <p>{words.refused(jobs.length - retried, more)}</p>}
      <Refused jobs={jobs} />
      {retry.isPending && <p role="status">{words.soFar(soFar, retried)}</p>}
    </FormDialog>
  );
}

const NOTHING: { jobs: RetriedJob[]; more: boolean } = { jobs: [], more: false };

function retriedOf(jobs: readonly RetriedJob[]): number {
  return jobs.filter(({ error }) => error === null).length;
}

/** Reasons, with the number of jobs of each. */
function Refused({ jobs }: { jobs: readonly RetriedJob[] }) {
  const counts = new Map<NonNullable<RetriedJob['error']>['code'], number>();
  for (const { error } of jobs) if (error !== null) counts.set(error.code, (counts.get(error.code) ?? 0) + 1);
  if (counts.size === 0) return null;
  return (
    <ul className={css.reasons}>
      {[...counts].map(([code, amount]) => (
        <li key={code}>{words.reason(words.reasons[code], amount)}</li>
      ))}
    </ul>
  );
}

/** Jobs that are listed one by one. */
const MOST_LISTED = 50;

function Results({ jobs, onClose }: { jobs: readonly RetriedJob[]; onClose: () => void }) {
  const refused = jobs.filter(({ error }) => error !== null);
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={words.done(jobs.length - refused.length)}
      description={words.notRetried(refused.length)}
      actions={<Button onClick={onClose}>{commonWords.close}</Button>}
    >
      <ul className={css.results} aria-label={words.results}>
        {refused.slice(0, MOST_LISTED).map(({ id, error }) => (
          <li key={id}>
            <Link to="/jobs/$jobId" params={{ jobId: id }}>
              {words.job(shortId(id))}
            </Link>{' '}
            {error?.message}
          </li>
        ))}
      </ul>
      {refused.length > MOST_LISTED && <p>{words.others(refused.length - MOST_LISTED)}</p>}
    </Dialog>
  );
}
