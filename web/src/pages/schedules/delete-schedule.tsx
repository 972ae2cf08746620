import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Schedule } from 'nightshift/client';
import { client } from '../../data/client.ts';
import { keys } from '../../data/query/keys.ts';
import { Button } from '../../ui/forms/button.tsx';
import { Dialog } from '../../ui/layout/dialog.tsx';
import { showError, showNotice } from '../../ui/layout/toaster.tsx';

export function DeleteSchedule({ schedule, onClose }: { schedule: Schedule | null; onClose: () => void }) {
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: ({ id }: Schedule) => client.schedules.delete(id),
    onSuccess: (_, { name }) => {
      showNotice(`Schedule ${name} deleted`);
      onClose();
    },
    onError: (error, { name }) => showError(`Could not delete the schedule ${name}`, error),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.schedules }),
  });
  return (
    <Dialog
      open={schedule !== null}
      onClose={onClose}
      title={`Delete schedule ${schedule?.name ?? ''}?`}
      description="Its run log is deleted too. Jobs that it started go on."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="danger" busy={remove.isPending} onClick={() => schedule !== null && remove.mutate(schedule)}>
            Delete
          </Button>
        </>
      }
    />
  );
}
