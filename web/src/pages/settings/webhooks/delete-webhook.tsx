import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Webhook } from 'nightshift/client';
import { client } from '../../../data/client.ts';
import { keys } from '../../../data/query/keys.ts';
import { ConfirmDialog } from '../../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../../ui/layout/toaster.tsx';
import { commonWords, webhooksWords } from '../../../words.ts';

const words = webhooksWords.delete;

export function DeleteWebhook({ webhook: { id, url }, onClose }: { webhook: Webhook; onClose: () => void }) {
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: () => client.webhooks.delete(id),
    onSuccess: () => {
      showNotice(words.done);
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.webhooks }),
  });
  return (
    <ConfirmDialog
      title={words.title(url)}
      description={words.about}
      submit={commonWords.delete}
      saving={remove}
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
