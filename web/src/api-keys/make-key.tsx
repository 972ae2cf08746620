/** Makes an API key with some of the scopes of this session; or, for the operator, the first key of a tenant. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { CreateApiKey } from 'nightshift/client';
import { useState } from 'react';
import { client } from '../data/client.ts';
import { fieldFaults } from '../data/field-faults.ts';
import { keys } from '../data/query/keys.ts';
import type { KeyScope } from '../data/query/session.ts';
import { TextField } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/layout/form-dialog.tsx';
import { ExpiryField, expiresAtOf, type Expiry } from './expiry-field.tsx';
import { useShowKey } from './show-key.ts';
import { LimitFields } from './limit-fields.tsx';
import { LIMIT_NAMES, NO_LIMITS, limitsIn } from './limits.ts';
import { NEEDED_IN_FIRST, ScopesField } from './scopes-field.tsx';
import { apiKeysWords, commonWords } from '../words.ts';

const SHOWN = ['name', 'scopes', 'expires_at', ...LIMIT_NAMES.map((one) => `limits.${one}`)];

/** `tenant`: whose first key it is. */
type Props = { tenant?: string; onClose: () => void };

export function MakeKey({ tenant, onClose }: Props) {
  const showKey = useShowKey();
  const cache = useQueryClient();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly KeyScope[]>(tenant === undefined ? [] : ['keys']);
  const [limits, setLimits] = useState(NO_LIMITS);
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
  const canMakeOthers = scopes.includes('keys');
  const given = canMakeOthers ? {} : limitsIn(limits);
  const hasEnough = tenant === undefined ? scopes.length > 0 : scopes.includes(NEEDED_IN_FIRST);
  const faults = fieldFaults(make.error, SHOWN);
  return (
    <FormDialog
      title={tenant === undefined ? apiKeysWords.new : apiKeysWords.firstOf(tenant)}
      description={tenant === undefined ? undefined : apiKeysWords.firstAbout}
      submit={apiKeysWords.create}
      canSubmit={name.trim() !== '' && hasEnough && given !== null && expiresAt !== undefined}
      saving={{ isPending: make.isPending, error: faults.rest }}
      onSubmit={() => {
        if (expiresAt !== undefined && given !== null)
          make.mutate({
            name: name.trim(),
            scopes: [...scopes],
            limits: given,
            ...(expiresAt !== null && { expires_at: expiresAt }),
            ...(tenant !== undefined && { tenant }),
          });
      }}
      onClose={onClose}
    >
      <TextField
        label={commonWords.name}
        required
        maxLength={100}
        autoComplete="off"
        hint={apiKeysWords.nameHint}
        value={name}
        error={faults.of('name')}
        onChange={({ target }) => changeName(target.value)}
      />
      <ScopesField
        isFirst={tenant !== undefined}
        chosen={scopes}
        error={faults.of('scopes')}
        onChange={changed(setScopes)}
      />
      {tenant === undefined && (
        <LimitFields value={limits} disabled={canMakeOthers} errorOf={faults.of} onChange={changed(setLimits)} />
      )}
      <ExpiryField value={expiry} error={faults.of('expires_at')} onChange={changed(setExpiry)} />
    </FormDialog>
  );
}
