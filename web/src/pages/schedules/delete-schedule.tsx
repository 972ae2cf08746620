import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Schedule } from 'nightshift/client';
import { client } from '../../data/client.ts';
import { keys } from '../../data/query/keys.ts';
import { ConfirmDialog } from '../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../ui/layout/toaster.tsx';
import { commonWords, schedulesWords } from '../../words.ts';

const words = schedulesWords.delete;

export function DeleteSchedule({ schedule: { id, name }, onClose }: { schedule: Schedule; onClose: () => void }) {
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: () => client.schedules.delete(id),
    onSuccess: () => {
      showNotice(words.done(name));
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.schedules }),
  });
  return (
    <ConfirmDialog
      title={words.title(name)}
      description={words.about}
      submit={commonWords.delete}
      saving={remove}
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
