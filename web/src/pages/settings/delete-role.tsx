import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Role } from 'nightshift/client';
import { keys } from '../../data/keys.ts';
import { deleteRole } from '../../data/workers.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { showNotice, showError } from '../../ui/toaster.tsx';

export function DeleteRole({ role, onClose }: { role: Role | null; onClose: () => void }) {
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: deleteRole,
    onSuccess: (_, name) => {
      showNotice(`The role ${name} was deleted`);
      onClose();
    },
    onError: (error, name) => showError(`The role ${name} was not deleted`, error),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.roles }),
  });
  return (
    <Dialog
      open={role !== null}
      onClose={onClose}
      title={`Delete the role ${role?.name ?? ''}?`}
      description="Workers that were made from it keep what they have. No new ones are made from it."
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button
            variant="danger"
            busy={remove.isPending}
            onClick={() => role !== null && remove.mutate(role.name)}
          >
            Delete
          </Button>
        </>
      }
    />
  );
}
