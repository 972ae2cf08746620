import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Schedule } from 'nightshift/client';
import { client } from '../../data/client.ts';
import { keys } from '../../data/query/keys.ts';
import { ConfirmDialog } from '../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../ui/layout/toaster.tsx';

export function DeleteSchedule({ schedule: { id, name }, onClose }: { schedule: Schedule; onClose: () => void }) {
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: () => client.schedules.delete(id),
    onSuccess: () => {
      showNotice(`Schedule ${name} deleted`);
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.schedules }),
  });
  return (
    <ConfirmDialog
      title={`Delete schedule ${name}?`}
      description="Its run log is deleted too. Jobs that it started go on."
      submit="Delete"
      saving={remove}
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
