import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Webhook } from 'nightshift/client';
import { client } from '../../../data/client.ts';
import { keys } from '../../../data/query/keys.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { showError, showNotice } from '../../../ui/layout/toaster.tsx';

export function DeleteWebhook({ webhook: { id, url }, onClose }: { webhook: Webhook; onClose: () => void }) {
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: () => client.webhooks.delete(id),
    onSuccess: () => {
      showNotice('The webhook is deleted');
      onClose();
    },
    onError: (error) => showError('Could not delete the webhook', error),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.webhooks }),
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title="Delete the webhook?"
      description={`Nothing more is sent to ${url}. Its deliveries are deleted too, also those that are pending.`}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
            Delete
          </Button>
        </>
      }
    />
  );
}
