import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Role } from 'nightshift/client';
import { keys } from '../../data/query/keys.ts';
import { deleteRole } from '../../data/query/workers.ts';
import { ConfirmDialog } from '../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../ui/layout/toaster.tsx';
import { commonWords, settingsWords } from '../../words.ts';

const words = settingsWords.deleteRole;

export function DeleteRole({ role: { name }, onClose }: { role: Role; onClose: () => void }) {
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteRole(name),
    onSuccess: () => {
      showNotice(words.done(name));
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.roles }),
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
