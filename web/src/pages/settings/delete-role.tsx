import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Role } from 'nightshift/client';
import { keys } from '../../data/query/keys.ts';
import { deleteRole } from '../../data/query/workers.ts';
import { ConfirmDialog } from '../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../ui/layout/toaster.tsx';

export function DeleteRole({ role: { name }, onClose }: { role: Role; onClose: () => void }) {
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteRole(name),
    onSuccess: () => {
      showNotice(`Role ${name} deleted`);
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.roles }),
  });
  return (
    <ConfirmDialog
      title={`Delete role ${name}?`}
      description="Existing workers keep their settings. New workers cannot use the role."
      submit="Delete"
      saving={remove}
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
