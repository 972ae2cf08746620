/** Makes a tenant, or changes what it may use. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Tenant } from 'nightshift/client';
import { useState } from 'react';
import { client } from '../../data/client.ts';
import { fieldFaults } from '../../data/field-faults.ts';
import { keys } from '../../data/query/keys.ts';
import { TextField } from '../../ui/forms/field.tsx';
import { FormDialog } from '../../ui/layout/form-dialog.tsx';
import { showNotice } from '../../ui/layout/toaster.tsx';
import { LIMIT_TEXTS } from '../../usage/limit-texts.ts';
import { AllowedField } from './allowed-field.tsx';
import { ALLOWED_KINDS } from './brief.ts';
import { faultsOf, toCreate, toDraft, toPatch, type TenantDraft } from './draft.ts';
import { LimitFields } from './limit-fields.tsx';
import { commonWords, tenantsWords } from '../../words.ts';

const SHOWN = [
  'name',
  'limits.weight',
  ...LIMIT_TEXTS.map(({ name }) => `limits.${name}`),
  ...ALLOWED_KINDS.map(({ kind }) => `allow.${kind}`),
];

const words = tenantsWords.form;

/** `known` null: a new tenant. */
export function TenantForm({ known, onClose }: { known: Tenant | null; onClose: () => void }) {
  const cache = useQueryClient();
  const [draft, setDraft] = useState(() => toDraft(known));
  const save = useMutation({
    mutationFn: async () => {
      if (known === null) return void (await client.tenants.create(toCreate(draft)));
      const patch = toPatch(known, draft);
      if (patch !== null) await client.tenants.update(known.name, patch);
    },
    onSuccess: () => {
      showNotice(words.saved(draft.name.trim()));
      onClose();
    },
    onSettled: async () => {
      await cache.invalidateQueries({ queryKey: keys.tenants });
      await cache.invalidateQueries({ queryKey: keys.usage(draft.name) });
    },
  });
  const written = faultsOf(draft);
  const faults = fieldFaults(save.error, SHOWN);
  const faultOf = (path: string): string | null => written[path] ?? faults.of(path);
  const change = (changed: Partial<TenantDraft>): void => {
    // What was refused is no longer what is written.
    if (save.isError) save.reset();
    setDraft({ ...draft, ...changed });
  };
  return (
    <FormDialog
      title={known === null ? tenantsWords.new : words.edit(known.name)}
      wide
      submit={known === null ? words.create : commonWords.save}
      canSubmit={Object.keys(written).length === 0 && draft.name.trim() !== ''}
      saving={{ isPending: save.isPending, error: faults.rest }}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      {known === null && (
        <TextField
          label={commonWords.name}
          required
          maxLength={64}
          autoComplete="off"
          spellCheck={false}
          hint={words.nameHint}
          value={draft.name}
          error={faultOf('name')}
          onChange={({ target }) => change({ name: target.value })}
        />
      )}
      <TextField
        label={words.weight}
        inputMode="decimal"
        autoComplete="off"
        hint={words.weightHint}
        value={draft.weight}
        error={faultOf('limits.weight')}
        onChange={({ target }) => change({ weight: target.value })}
      />
      <LimitFields limits={draft.limits} faultOf={faultOf} onChange={(limits) => change({ limits })} />
      {ALLOWED_KINDS.map(({ kind, label, example }) => (
        <AllowedField
          key={kind}
          label={label}
          example={example}
          value={draft.allow[kind]}
          error={faultOf(`allow.${kind}`)}
          onChange={(value) => change({ allow: { ...draft.allow, [kind]: value } })}
        />
      ))}
    </FormDialog>
  );
}
