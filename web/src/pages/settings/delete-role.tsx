import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Role } from 'nightshift/client';
import { keys } from '../../data/query/keys.ts';
import { deleteRole } from '../../data/query/workers.ts';
import { Button } from '../../ui/forms/button.tsx';
import { Dialog } from '../../ui/layout/dialog.tsx';
import { showNotice, showError } from '../../ui/layout/toaster.tsx';

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
          <Button variant="danger" busy={remove.isPending} onClick={() => role !== null && remove.mutate(role.name)}>
            Delete
          </Button>
        </>
      }
    />
  );
}
