/** Panel of the selected worker: its state, details and actions. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleStop, CircleX, ListChecks, MessagesSquare, Play, Timer } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { client } from '../../data/client.ts';
import { keys } from '../../data/query/keys.ts';
import { everyMs } from '../../data/live/changes.ts';
import { isAtWork, workerQuery, workerStateQuery } from '../../data/query/workers.ts';
import { Button, buttonClass } from '../../ui/forms/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { ConfirmDialog } from '../../ui/layout/confirm-dialog.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { RelativeTime } from '../../ui/text/time.tsx';
import { showNotice, showError } from '../../ui/layout/toaster.tsx';
import { treeWords } from '../../words.ts';
import css from './tree.module.css';

const { panel: words, cancel: cancelWords } = treeWords;

/** Poll interval of the selected worker. */
const WATCHED_MS = 3_000;

export function WorkerPanel({
  workerId,
  jobId: lastJobId,
  treeId,
  onGone,
}: {
  workerId: string;
  /** The unfinished job, else the last one; null if there is none or it is not loaded. */
  jobId: string | null;
  treeId: string;
  onGone: () => void;
}) {
  const worker = useQuery({ ...workerQuery(workerId), refetchInterval: () => everyMs(WATCHED_MS) });
  const contextId = worker.data?.context_id ?? '';
  const state = useQuery({
    ...workerStateQuery({ id: workerId, context_id: contextId }),
    enabled: contextId !== '',
    // No change tells of positions in the queue and of throttles.
    refetchInterval: () => (worker.data !== undefined && isAtWork(worker.data) ? WATCHED_MS : everyMs(WATCHED_MS)),
  });
  if (worker.data === undefined)
    return (
      <Card className={css.panel}>
        {worker.isError ? (
          <ErrorState error={worker.error} onRetry={workerId === treeId ? () => void worker.refetch() : onGone} />
        ) : (
          <Skeleton />
        )}
      </Card>
    );
  const { id, name, role, last_failure: failure, created_at } = worker.data;
  const jobId = lastJobId ?? state.data?.job_id ?? null;
  return (
    <Card
      className={css.panel}
      title={<span className={css.title}>{name}</span>}
      actions={<StatusBadge status={worker.data.state} />}
    >
      <div className={css.stack}>
        <p className={css.why} aria-live="polite">
          {state.data?.why}
        </p>
        <dl className={css.details}>
          <Detail name={words.role}>{role ?? words.noRole}</Detail>
          <Detail name={words.created}>
            <RelativeTime at={created_at} />
          </Detail>
          <Detail name={words.id}>
            <code>{id}</code>
            <CopyButton read={() => id} label={words.copyId} />
          </Detail>
          {failure !== null && (
            <Detail name={words.lastFailure}>
              {failure.message} (<code>{failure.code}</code>)
            </Detail>
          )}
        </dl>
        <div className={css.actions}>
          <Link to="/contexts/$contextId" params={{ contextId }} className={buttonClass({})}>
            <MessagesSquare /> {words.openChat}
          </Link>
          {jobId !== null && (
            <Link to="/jobs/$jobId" params={{ jobId }} search={{ tab: 'timeline' }} className={buttonClass({})}>
              <Timer /> {words.timeline}
            </Link>
          )}
          <Link to="/jobs" search={{ worker_id: id }} className={buttonClass({})}>
            <ListChecks /> {words.jobs}
          </Link>
          <Acts workerId={id} name={name} isStopped={worker.data.state === 'stopped'} />
        </div>
      </div>
    </Card>
  );
}

function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** These actions also apply to all workers below. */
function Acts({ workerId, name, isStopped }: { workerId: string; name: string; isStopped: boolean }) {
  const [isAsking, setAsking] = useState(false);
  const cache = useQueryClient();
  const refresh = () =>
    Promise.all(
      [keys.trees, keys.worker(workerId), keys.jobs].map((queryKey) => cache.invalidateQueries({ queryKey })),
    );
  const turn = useMutation({
    mutationFn: () => (isStopped ? client.workers.start(workerId) : client.workers.stop(workerId)),
    onSuccess: refresh,
    onError: (error) => showError(isStopped ? words.startFailed(name) : words.stopFailed(name), error),
  });
  const cancel = useMutation({
    mutationFn: () => client.jobs.cancelAll({ worker_id: workerId }),
    onSuccess: ({ count }) => {
      setAsking(false);
      showNotice(cancelWords.done(count));
      return refresh();
    },
  });
  return (
    <>
      <Button busy={turn.isPending} onClick={() => turn.mutate()}>
        {isStopped ? <Play /> : <CircleStop />}
        {isStopped ? words.start : words.stop}
      </Button>
      <Button variant="risky" onClick={() => setAsking(true)}>
        <CircleX /> {cancelWords.open}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={cancelWords.title(name)}
          description={cancelWords.about}
          submit={cancelWords.submit}
          keep={cancelWords.keep}
          saving={cancel}
          onSubmit={() => cancel.mutate()}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
