/** Makes a key in place of another one, which stays valid for a time. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ApiKey } from 'nightshift/client';
import { useState } from 'react';
import { client } from '../../../data/client.ts';
import { keys } from '../../../data/query/keys.ts';
import { OverlapField, type Overlap } from '../../../ui/forms/overlap-field.tsx';
import { FormDialog } from '../../../ui/layout/form-dialog.tsx';
import { handOver, type NewKey } from './new-key.ts';

type Props = { apiKey: ApiKey; onMade: (made: NewKey) => void; onClose: () => void };

export function RotateKey({ apiKey: { id, name }, onMade, onClose }: Props) {
  const cache = useQueryClient();
  const [overlap, setOverlap] = useState<Overlap>('86400');
  const rotate = useMutation({
    mutationFn: (overlapS: number) => handOver(client.keys.rotate(id, { overlap_s: overlapS }), onMade),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.apiKeys }),
  });
  return (
    <FormDialog
      title={`Rotate API key ${name}?`}
      description="Creates a key with the same name, scopes and lifetime."
      submit="Rotate"
      saving={rotate}
      onSubmit={() => rotate.mutate(Number(overlap))}
      onClose={onClose}
    >
      <OverlapField
        label="The old key"
        hint="Replace the key wherever it is used before the old one ends."
        value={overlap}
        onChange={setOverlap}
      />
    </FormDialog>
  );
}
