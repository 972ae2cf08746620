/** Asks for confirmation and shows how many jobs will be cancelled. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { cancelJobs, cancelMatching, countUnfinished } from '../../../data/query/jobs.ts';
import { keys } from '../../../data/query/keys.ts';
import type { JobTarget } from '../../../data/retry-jobs.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { ConfirmDialog } from '../../../ui/layout/confirm-dialog.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { showNotice } from '../../../ui/layout/toaster.tsx';
import { commonWords, jobsWords } from '../../../words.ts';

const words = jobsWords.cancel;

type Props = { target: JobTarget; onClose: () => void; onDone: () => void };

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
      showNotice(words.done(count));
      onDone();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.jobs }),
  });
  const { count, more } = counted.data ?? NOTHING;
  if (counted.data !== undefined && count === 0)
    return (
      <Dialog
        open
        onClose={onClose}
        title={words.none}
        description={words.noneAbout}
        actions={<Button onClick={onClose}>{commonWords.close}</Button>}
      />
    );
  return (
    <ConfirmDialog
      title={target.kind === 'matching' ? words.matching : words.selected}
      description={words.about}
      goes={count === 0 ? [] : [words.goes(count, more)]}
      submit={words.submit(count === 0 ? null : count, more)}
      keep={words.keep}
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
