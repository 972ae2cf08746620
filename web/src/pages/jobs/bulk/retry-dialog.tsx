/** Shows how many jobs will be retried, and which not; then what happened to each. */
import { Link } from '@tanstack/react-router';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import type { RetriedJob } from 'nightshift/client';
import { useState } from 'react';
import { client } from '../../../data/client.ts';
import { shortId } from '../../../data/format.ts';
import { keys } from '../../../data/query/keys.ts';
import { beginRetry, foreseeRetry, retryJobs, type JobTarget, type RetriedPart } from '../../../data/retry-jobs.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { FormDialog } from '../../../ui/layout/form-dialog.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { showNotice } from '../../../ui/layout/toaster.tsx';
import { commonWords, jobsWords } from '../../../words.ts';
import css from '../jobs.module.css';
import { titleOf } from './target.ts';

const words = jobsWords.retry;

type Props = { target: JobTarget; onClose: () => void; onDone: () => void };

export function RetryDialog({ target, onClose, onDone }: Props) {
  const cache = useQueryClient();
  const [soFar, setSoFar] = useState(() => beginRetry(target));
  const hasBegun = soFar.pages > 0;
  const foreseen = useInfiniteQuery({
    queryKey: keys.retry(target),
    queryFn: ({ pageParam, signal }) => foreseeRetry(client, soFar, pageParam, signal),
    initialPageParam: null as RetriedPart['next'],
    getNextPageParam: ({ next }) => next,
    staleTime: 0,
    gcTime: 0,
  });
  const retry = useMutation({
    mutationFn: () => retryJobs(client, soFar, setSoFar),
    onSuccess: (jobs) => {
      const retried = retriedOf(jobs);
      if (retried < jobs.length) return;
      showNotice(words.done(retried));
      onDone();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.jobs }),
  });
  if (retry.data !== undefined) return <Results jobs={retry.data} onClose={onDone} />;
  const jobs = foreseen.data?.pages.flatMap((part) => part.jobs) ?? [];
  const more = foreseen.hasNextPage;
  const retried = retriedOf(jobs);
  if (foreseen.data !== undefined && retried === 0 && !more)
    return (
      <Dialog
        open
        onClose={onClose}
        title={words.none}
        description={jobs.length === 0 ? words.noneAbout : words.refused(jobs.length, false)}
        actions={<Button onClick={onClose}>{commonWords.close}</Button>}
      >
        <Refused jobs={jobs} />
      </Dialog>
    );
  return (
    <FormDialog
      title={titleOf(target, { ...words, matching: isOfEnded(target) ? words.matchingEnded : words.matching })}
      description={words.about}
      submit={hasBegun ? words.goOn : words.submit(retried === 0 ? null : retried, more)}
      canSubmit={retried > 0}
      saving={{ isPending: retry.isPending, error: retry.error ?? foreseen.error }}
      onSubmit={() => retry.mutate()}
      onClose={onClose}
    >
      {foreseen.isPending && <Skeleton lines={2} />}
      {retried > 0 && <p>{words.goes(retried, more)}</p>}
      {jobs.length > retried && <p>{words.refused(jobs.length - retried, more)}</p>}
      {jobs.length === 0 && more && <p>{words.noneYet}</p>}
      <Refused jobs={jobs} />
      {more && !hasBegun && (
        <Button size="small" busy={foreseen.isFetchingNextPage} onClick={() => void foreseen.fetchNextPage()}>
          {words.lookOn}
        </Button>
      )}
      {retry.isPending && <p role="status">{words.soFar(retriedOf(soFar.jobs), retried, more)}</p>}
      {!retry.isPending && hasBegun && (
        <>
          <p>{words.stopped(retriedOf(soFar.jobs), soFar.jobs.length)}</p>
          <NotRetried jobs={soFar.jobs} />
        </>
      )}
    </FormDialog>
  );
}

/** Without a status it retries no cancelled or interrupted jobs. */
function isOfEnded(target: JobTarget): boolean {
  return target.kind === 'matching' && target.filter.status !== undefined;
}

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
      <NotRetried jobs={jobs} />
    </Dialog>
  );
}

function NotRetried({ jobs }: { jobs: readonly RetriedJob[] }) {
  const refused = jobs.filter(({ error }) => error !== null);
  if (refused.length === 0) return null;
  return (
    <>
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
    </>
  );
}
