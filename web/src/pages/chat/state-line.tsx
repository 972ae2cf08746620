/** Shows the state of the context, its reason, and the actions: retry, start, stop. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Play, RotateCcw } from 'lucide-react';
import type { Context } from 'nightshift/client';
import { client } from '../../data/client.ts';
import { contextStateQuery } from '../../data/query/contexts.ts';
import { lastJobQuery } from '../../data/query/jobs.ts';
import { keys } from '../../data/query/keys.ts';
import { Button } from '../../ui/forms/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Spinner } from '../../ui/state/spinner.tsx';
import { useTimeFormat } from '../../ui/text/time-format.ts';
import { withTimes } from '../../ui/text/with-times.ts';
import { Duration } from '../../ui/text/time.tsx';
import { showError } from '../../ui/layout/toaster.tsx';
import { chatWords, commonWords } from '../../words.ts';
import css from './state-line.module.css';
import { isBusy, isMoving } from './state.ts';
import { StopButton } from './composer/stop-button.tsx';

const words = chatWords.state;

/** Poll interval: the stream has no events for queue positions and throttles. */
const ASK_AGAIN_MS = 2_000;

export function StateLine({ context, state }: { context: Context; state: string }) {
  const busy = isBusy(state);
  const format = useTimeFormat();
  const { data } = useQuery({
    ...contextStateQuery(context.id),
    refetchInterval: busy ? ASK_AGAIN_MS : false,
  });
  const { data: ended } = useQuery({ ...lastJobQuery(context.id), enabled: !busy && state !== 'Idle' });
  if (state === 'Idle' || data === undefined) return null;
  // A job that failed, or was stopped with its worker, is no current job any more.
  const jobId = data.job_id ?? ended?.id ?? null;
  const isFailed = state === 'PermanentFailure';
  return (
    <div className={classes(css.line, isFailed && css.failed)} role="group" aria-label={words.label}>
      {isMoving(state) && <Spinner />}
      <p className={css.why} role="status">
        {withTimes(data.why, format)}
        {data.queue_position !== null && ` ${words.position(data.queue_position)}`}
      </p>
      {busy && (
        <span className={css.since}>
          <Duration from={data.since} to={null} />
        </span>
      )}
      {jobId !== null && (
        <Link to="/jobs/$jobId" params={{ jobId }} search={{ tab: 'timeline' }} className={css.job}>
          {chatWords.timeline}
        </Link>
      )}
      {isFailed && <Retry context={context} />}
      {state === 'Stopped' && <Start context={context} />}
      {busy && <StopButton key={data.job_id} context={context} jobId={data.job_id} byKey={isMoving(state)} />}
    </div>
  );
}

function Retry({ context }: { context: Context }) {
  const retry = useDoing(context, () => client.contexts.retry(context.id), words.retryFailed);
  return (
    <Button size="small" busy={retry.isPending} onClick={() => retry.mutate()}>
      <RotateCcw aria-hidden="true" /> {commonWords.retry}
    </Button>
  );
}

function Start({ context }: { context: Context }) {
  const start = useDoing(context, () => client.workers.start(context.worker_id), chatWords.startFailed);
  return (
    <Button size="small" busy={start.isPending} onClick={() => start.mutate()}>
      <Play aria-hidden="true" /> {chatWords.startWorker}
    </Button>
  );
}

function useDoing(context: Context, act: () => Promise<unknown>, did: string) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: act,
    onError: (error) => showError(did, error),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.context(context.id) }),
  });
}
