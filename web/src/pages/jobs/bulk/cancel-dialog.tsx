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
import { titleOf } from './target.ts';

const words = jobsWords.cancel;

type Props = { target: JobTarget; onClose: () => void; onDone: () => void };

export function CancelDialog({ target, onClose, onDone }: Props) {
  const cache = useQueryClient();
  const counted = useQuery({
    queryKey: [...keys.jobs, 'count', target],
    queryFn: ({ signal }) =>
      target.kind === 'selected'
        ? { count: target.unfinished.length, more: false }
        : countUnfinished(target.filter, signal),
    staleTime: 0,
    gcTime: 0,
  });
  const cancel = useMutation({
    mutationFn: () => (target.kind === 'selected' ? cancelJobs(target.unfinished) : cancelMatching(target.filter)),
    onSuccess: (count) => {
      showNotice(words.done(count));
      onDone();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.jobs }),
  });
  const { count, more } = counted.data ?? NOTHING;
  const ended = target.kind === 'selected' ? target.ids.length - target.unfinished.length : 0;
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
      title={titleOf(target, words)}
      description={words.about}
      goes={[...(count === 0 ? [] : [words.goes(count, more)]), ...(ended === 0 ? [] : [words.ended(ended)])]}
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
