/** Deletes a tenant with all its data, once its name is typed. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../data/client.ts';
import { keys } from '../../data/query/keys.ts';
import { TextField } from '../../ui/forms/field.tsx';
import { ConfirmDialog } from '../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../ui/layout/toaster.tsx';

export function DeleteTenant({ name, onClose }: { name: string; onClose: () => void }) {
  const cache = useQueryClient();
  const [typed, setTyped] = useState('');
  const remove = useMutation({
    mutationFn: () => client.tenants.delete(name),
    onSuccess: () => {
      showNotice(`The tenant ${name} is being deleted`);
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.tenants }),
  });
  return (
    <ConfirmDialog
      title={`Delete tenant ${name}?`}
      description="All its data is deleted: workers, contexts, messages, jobs, roles, schedules, webhooks and its audit log. Its keys, sessions and tokens end at once. Keys of the environment with its name stay refused."
      submit="Delete"
      canSubmit={typed === name}
      saving={remove}
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name of the tenant"
        hint={`Type ${name} to confirm.`}
        required
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </ConfirmDialog>
  );
}
