/** Deletes a tenant with all its data, once its name is typed. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../data/client.ts';
import { keys } from '../../data/query/keys.ts';
import { TextField } from '../../ui/forms/field.tsx';
import { ConfirmDialog } from '../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../ui/layout/toaster.tsx';
import { commonWords, tenantsWords } from '../../words.ts';

const words = tenantsWords.delete;

export function DeleteTenant({ name, onClose }: { name: string; onClose: () => void }) {
  const cache = useQueryClient();
  const [typed, setTyped] = useState('');
  const remove = useMutation({
    mutationFn: () => client.tenants.delete(name),
    onSuccess: () => {
      showNotice(words.done(name));
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.tenants }),
  });
  return (
    <ConfirmDialog
      title={words.title(name)}
      description={words.about}
      submit={commonWords.delete}
      canSubmit={typed === name}
      saving={remove}
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    >
      <TextField
        label={words.name}
        hint={words.nameHint(name)}
        required
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </ConfirmDialog>
  );
}
