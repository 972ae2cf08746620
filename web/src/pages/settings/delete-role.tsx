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
      showNotice(`Role ${name} deleted`);
      onClose();
    },
    onError: (error, name) => showError(`Could not delete the role ${name}`, error),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.roles }),
  });
  return (
    <Dialog
      open={role !== null}
      onClose={onClose}
      title={`Delete role ${role?.name ?? ''}?`}
      description="Existing workers keep their settings. New workers cannot use the role."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
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
