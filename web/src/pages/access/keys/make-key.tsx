/** Makes an API key with some of the scopes of this session. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { CreateApiKey } from 'nightshift/client';
import { useState } from 'react';
import { client } from '../../../data/client.ts';
import { fieldFaults } from '../../../data/field-faults.ts';
import { keys } from '../../../data/query/keys.ts';
import type { KeyScope } from '../../../data/query/session.ts';
import { TextField } from '../../../ui/forms/field.tsx';
import { FormDialog } from '../../../ui/layout/form-dialog.tsx';
import { ExpiryField, expiresAtOf, type Expiry } from './expiry-field.tsx';
import { useShowKey } from './show-key.ts';
import { ScopesField } from './scopes-field.tsx';

export function MakeKey({ onClose }: { onClose: () => void }) {
  const showKey = useShowKey();
  const cache = useQueryClient();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly KeyScope[]>([]);
  const [expiry, setExpiry] = useState<Expiry>({ kind: 'days', days: 90 });
  const make = useMutation({
    mutationFn: async (body: CreateApiKey) => showKey(await client.keys.create(body)),
    onSuccess: onClose,
    onSettled: () => cache.invalidateQueries({ queryKey: keys.apiKeys }),
  });
  // What was refused is no longer what is written.
  const changed =
    <Value,>(set: (value: Value) => void) =>
    (value: Value): void => {
      if (make.isError) make.reset();
      set(value);
    };
  const changeName = changed(setName);
  const expiresAt = expiresAtOf(expiry);
  const faults = fieldFaults(make.error, ['name', 'scopes', 'expires_at']);
  return (
    <FormDialog
      title="New API key"
      submit="Create key"
      canSubmit={name.trim() !== '' && scopes.length > 0 && expiresAt !== undefined}
      saving={{ isPending: make.isPending, error: faults.rest }}
      onSubmit={() => {
        if (expiresAt !== undefined)
          make.mutate({
            name: name.trim(),
            scopes: [...scopes],
            ...(expiresAt !== null && { expires_at: expiresAt }),
          });
      }}
      onClose={onClose}
    >
      <TextField
        label="Name"
        required
        maxLength={100}
        autoComplete="off"
        hint="Who or what uses it, such as “billing service”."
        value={name}
        error={faults.of('name')}
        onChange={({ target }) => changeName(target.value)}
      />
      <ScopesField chosen={scopes} error={faults.of('scopes')} onChange={changed(setScopes)} />
      <ExpiryField value={expiry} error={faults.of('expires_at')} onChange={changed(setExpiry)} />
    </FormDialog>
  );
}
