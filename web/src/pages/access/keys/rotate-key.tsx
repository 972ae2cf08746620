/** Makes a key in place of another one, which stays valid for a time. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ApiKey } from 'nightshift/client';
import { useState } from 'react';
import { client } from '../../../data/client.ts';
import { keys } from '../../../data/query/keys.ts';
import { OverlapField, type Overlap } from '../../../ui/forms/overlap-field.tsx';
import { FormDialog } from '../../../ui/layout/form-dialog.tsx';
import { useShowKey } from '../../../api-keys/show-key.ts';

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
      title={`Rotate API key ${name}?`}
      description="Creates a key with the same name, scopes, limits and lifetime. When the old key ends, browser sessions that began with it end too. If you signed in with the old key, you are then signed out."
      submit="Rotate"
      saving={rotate}
      onSubmit={() => rotate.mutate(Number(overlap))}
      onClose={onClose}
    >
      <OverlapField
        label="How long the old key stays valid"
        hint="Replace the key wherever it is used before the old one ends."
        value={overlap}
        onChange={setOverlap}
      />
    </FormDialog>
  );
}
