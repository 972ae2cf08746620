/** Asks for confirmation and shows how many jobs will be cancelled. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { cancelJobs, cancelMatching, countUnfinished } from '../../data/query/jobs.ts';
import { keys, type JobFilter } from '../../data/query/keys.ts';
import { Button } from '../../ui/forms/button.tsx';
import { Dialog } from '../../ui/layout/dialog.tsx';
import { ConfirmDialog } from '../../ui/layout/confirm-dialog.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { showNotice } from '../../ui/layout/toaster.tsx';

export type StopTarget = { kind: 'selected'; ids: readonly string[] } | { kind: 'matching'; filter: JobFilter };

type Props = { target: StopTarget; onClose: () => void; onDone: () => void };

export function CancelDialog({ target, onClose, onDone }: Props) {
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
    onSettled: () => cache.invalidateQueries({ queryKey: keys.jobs }),
  });
  const { count, more } = counted.data ?? NOTHING;
  const which = more ? `more than ${count} jobs` : jobsOf(count);
  if (counted.data !== undefined && count === 0)
    return (
      <Dialog
        open
        onClose={onClose}
        title="No unfinished jobs match"
        description="There is nothing to cancel."
        actions={<Button onClick={onClose}>Close</Button>}
      />
    );
  return (
    <ConfirmDialog
      title={target.kind === 'matching' ? 'Cancel all matching jobs?' : 'Cancel the selected jobs?'}
      description="Effects of tool calls that have already run stay."
      goes={count === 0 ? [] : [`${which} will be cancelled`]}
      submit={count === 0 ? 'Cancel jobs' : `Cancel ${which}`}
      keep="Keep jobs"
      canSubmit={count > 0}
      saving={{ isPending: cancel.isPending, error: cancel.error ?? counted.error }}
      onSubmit={() => cancel.mutate()}
      onClose={onClose}
    >
      {counted.isPending && <Skeleton lines={2} />}
    </ConfirmDialog>
  );
}

const NOTHING = { count: 0, more: false };

function jobsOf(count: number): string {
  return count === 1 ? '1 job' : `${count} jobs`;
}
