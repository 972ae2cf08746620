/** Makes a new secret; the old one signs too for a time. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Webhook } from 'nightshift/client';
import { useState } from 'react';
import { client } from '../../../data/client.ts';
import { keys } from '../../../data/query/keys.ts';
import { OverlapField, type Overlap } from '../../../ui/forms/overlap-field.tsx';
import { FormDialog } from '../../../ui/layout/form-dialog.tsx';
import { showWebhookSecret } from './show-secret.ts';
import { webhooksWords } from '../../../words.ts';

const words = webhooksWords.rotate;

type Props = { webhook: Webhook; onClose: () => void };

export function RotateSecret({ webhook: { id, url }, onClose }: Props) {
  const cache = useQueryClient();
  const [overlap, setOverlap] = useState<Overlap>('86400');
  const rotate = useMutation({
    mutationFn: async (overlapS: number) =>
      showWebhookSecret(await client.webhooks.rotate(id, { overlap_s: overlapS })),
    onSuccess: onClose,
    onSettled: () => cache.invalidateQueries({ queryKey: keys.webhooks }),
  });
  return (
    <FormDialog
      title={words.title}
      description={url}
      submit={words.submit}
      saving={rotate}
      onSubmit={() => rotate.mutate(Number(overlap))}
      onClose={onClose}
    >
      <OverlapField label={words.overlap} hint={words.overlapHint} value={overlap} onChange={setOverlap} />
    </FormDialog>
  );
}
