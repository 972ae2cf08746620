/** Makes a key in place of another one, which stays valid for a time. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ApiKey } from 'nightshift/client';
import { useState } from 'react';
import { client } from '../../../data/client.ts';
import { keys } from '../../../data/query/keys.ts';
import { OverlapField, type Overlap } from '../../../ui/forms/overlap-field.tsx';
import { FormDialog } from '../../../ui/layout/form-dialog.tsx';
import { useShowKey } from '../../../api-keys/show-key.ts';
import { accessWords } from '../../../words.ts';

const words = accessWords.rotate;

type Props = { apiKey: ApiKey; onClose: () => void };

export function RotateKey({ apiKey: { id, name }, onClose }: Props) {
  const showKey = useShowKey();
  const cache = useQueryClient();
  const [overlap, setOverlap] = useState<Overlap>('86400');
  const rotate = useMutation({
    mutationFn: async (overlapS: number) => showKey(await client.keys.rotate(id, { overlap_s: overlapS })),
    onSuccess: onClose,
    onSettled: () => cache.invalidateQueries({ queryKey: keys.apiKeys }),
  });
  return (
    <FormDialog
      title={words.title(name)}
      description={words.about}
      submit={accessWords.keys.rotate}
      saving={rotate}
      onSubmit={() => rotate.mutate(Number(overlap))}
      onClose={onClose}
    >
      <OverlapField label={words.overlap} hint={words.overlapHint} value={overlap} onChange={setOverlap} />
    </FormDialog>
  );
}
