import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ApiKey } from 'nightshift/client';
import { client } from '../../../data/client.ts';
import { keys } from '../../../data/query/keys.ts';
import { ConfirmDialog } from '../../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../../ui/layout/toaster.tsx';

export function RevokeKey({ apiKey: { id, name }, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const cache = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => client.keys.revoke(id),
    onSuccess: () => {
      showNotice(`API key ${name} revoked`);
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.apiKeys }),
  });
  return (
    <ConfirmDialog
      title={`Revoke API key ${name}?`}
      description="It ends within a second. The browser sessions that began with it, its event streams, and the tokens that it made end too. If you signed in with this key, you are signed out."
      submit="Revoke"
      saving={revoke}
      onSubmit={() => revoke.mutate()}
      onClose={onClose}
    />
  );
}
