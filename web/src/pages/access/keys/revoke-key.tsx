import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ApiKey } from 'nightshift/client';
import { client } from '../../../data/client.ts';
import { keys } from '../../../data/query/keys.ts';
import { ConfirmDialog } from '../../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../../ui/layout/toaster.tsx';
import { accessWords } from '../../../words.ts';

const words = accessWords.revoke;

export function RevokeKey({ apiKey: { id, name }, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const cache = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => client.keys.revoke(id),
    onSuccess: () => {
      showNotice(words.done(name));
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.apiKeys }),
  });
  return (
    <ConfirmDialog
      title={words.title(name)}
      description={words.about}
      submit={accessWords.keys.revoke}
      saving={revoke}
      onSubmit={() => revoke.mutate()}
      onClose={onClose}
    />
  );
}
