/** Asks for confirmation and shows how many jobs will be cancelled. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { cancelJobs, cancelMatching, countUnfinished } from '../../data/query/jobs.ts';
import { keys, type JobFilter } from '../../data/query/keys.ts';
import { Button } from '../../ui/forms/button.tsx';
import { Dialog } from '../../ui/layout/dialog.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { showNotice, showError } from '../../ui/layout/toaster.tsx';
import css from './jobs.module.css';

export type StopTarget = { kind: 'selected'; ids: readonly string[] } | { kind: 'matching'; filter: JobFilter };

export function CancelDialog({
  target,
  onClose,
  onDone,
}: {
  target: StopTarget | null;
  onClose: () => void;
  onDone: () => void;
}) {
  return (
    <Dialog
      open={target !== null}
      onClose={onClose}
      title={target?.kind === 'matching' ? 'Cancel all matching jobs?' : 'Cancel the selected jobs?'}
    >
      {target !== null && <Question target={target} onClose={onClose} onDone={onDone} />}
    </Dialog>
  );
}

function Question({ target, onClose, onDone }: { target: StopTarget; onClose: () => void; onDone: () => void }) {
  const cache = useQueryClient();
  const counted = useQuery({
    queryKey: [...keys.jobs, 'count', target],
    queryFn: () =>
      target.kind === 'selected' ? { count: target.ids.length, more: false } : countUnfinished(target.filter),
    staleTime: 0,
    gcTime: 0,
  });
  const cancel = useMutation({
    mutationFn: () => (target.kind === 'selected' ? cancelJobs(target.ids) : cancelMatching(target.filter)),
    onSuccess: (count) => {
      showNotice(`Cancellation of ${jobsOf(count)} requested`);
      onDone();
    },
    onError: (error) => showError('Could not cancel all jobs', error),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.jobs }),
  });
  if (counted.data === undefined) return counted.isError ? <p>Could not count the jobs.</p> : <Skeleton lines={2} />;
  const { count, more } = counted.data;
  return (
    <>
      <p>
        {count === 0
          ? 'No unfinished jobs match. There is nothing to cancel.'
          : `${more ? `More than ${count} jobs` : jobsOf(count)} will be cancelled. Effects of tool calls that have already run are not undone.`}
      </p>
      <div className={css.actions}>
        <Button onClick={onClose}>{count === 0 ? 'Close' : 'Keep jobs'}</Button>
        {count > 0 && (
          <Button variant="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
            {more ? `Cancel more than ${count} jobs` : `Cancel ${jobsOf(count)}`}
          </Button>
        )}
      </div>
    </>
  );
}

function jobsOf(count: number): string {
  return count === 1 ? '1 job' : `${count} jobs`;
}
