import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Role } from 'nightshift/client';
import { keys } from '../../data/query/keys.ts';
import { deleteRole } from '../../data/query/workers.ts';
import { FormDialog } from '../../ui/layout/form-dialog.tsx';
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
    <FormDialog
      title={words.title(name)}
      description={words.about}
      submit={commonWords.delete}
      danger
      saving={remove}
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
