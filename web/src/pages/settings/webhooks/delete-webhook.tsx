import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Webhook } from 'nightshift/client';
import { client } from '../../../data/client.ts';
import { keys } from '../../../data/query/keys.ts';
import { ConfirmDialog } from '../../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../../ui/layout/toaster.tsx';

export function DeleteWebhook({ webhook: { id, url }, onClose }: { webhook: Webhook; onClose: () => void }) {
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: () => client.webhooks.delete(id),
    onSuccess: () => {
      showNotice('The webhook is deleted');
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.webhooks }),
  });
  return (
    <ConfirmDialog
      title={`Delete webhook ${url}?`}
      description="Nothing more is sent to it. Its deliveries are deleted too, also those that are pending."
      submit="Delete"
      saving={remove}
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
