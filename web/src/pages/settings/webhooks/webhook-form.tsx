/** Makes or changes a webhook. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { CreateWebhook, Webhook } from 'nightshift/client';
import { useState } from 'react';
import { client } from '../../../data/client.ts';
import { fieldFaults } from '../../../data/field-faults.ts';
import { keys } from '../../../data/query/keys.ts';
import { useRoleNames } from '../../../data/query/workers.ts';
import { SelectFilter } from '../../../ui/forms/filters.tsx';
import { TextArea, TextField } from '../../../ui/forms/field.tsx';
import { FormDialog } from '../../../ui/layout/form-dialog.tsx';
import { showNotice } from '../../../ui/layout/toaster.tsx';
import { EventsField } from './events-field.tsx';
import { metadataOf, toBody, toDraft, toPatch, type WebhookDraft } from './webhook-draft.ts';
import { showWebhookSecret } from './show-secret.ts';

type Props = {
  /** Null: a new one. */
  known: Webhook | null;
  onClose: () => void;
};

export function WebhookForm({ known, onClose }: Props) {
  const cache = useQueryClient();
  const [draft, setDraft] = useState(() => toDraft(known));
  const save = useMutation({
    mutationFn: async (body: CreateWebhook) => {
      if (known === null) return showWebhookSecret(await client.webhooks.create(body));
      const patch = toPatch(known, body);
      if (patch !== null) await client.webhooks.update(known.id, patch);
      showNotice('The webhook is saved');
    },
    onSuccess: onClose,
    onSettled: () => cache.invalidateQueries({ queryKey: keys.webhooks }),
  });
  const change = (changed: Partial<WebhookDraft>): void => {
    // What was refused is no longer what is written.
    if (save.isError) save.reset();
    setDraft({ ...draft, ...changed });
  };
  const faults = fieldFaults(save.error, ['url', 'events', 'filter.metadata']);
  const body = toBody(draft);
  return (
    <FormDialog
      title={known === null ? 'New webhook' : 'Edit webhook'}
      submit={known === null ? 'Create webhook' : 'Save'}
      canSubmit={body !== null}
      saving={{ isPending: save.isPending, error: faults.rest }}
      onSubmit={() => body !== null && save.mutate(body)}
      onClose={onClose}
    >
      <TextField
        label="URL"
        type="url"
        required
        maxLength={2000}
        autoComplete="off"
        placeholder="https://example.com/hooks"
        hint="Events are sent to it with POST, signed with a secret."
        value={draft.url}
        error={faults.of('url')}
        onChange={({ target }) => change({ url: target.value })}
      />
      <EventsField chosen={draft.events} error={faults.of('events')} onChange={(events) => change({ events })} />
      <RoleField value={draft.role} onChange={(role) => change({ role })} />
      <TextArea
        label="Metadata"
        rows={3}
        spellCheck={false}
        placeholder={'{"team": 7}'}
        hint="Optional: only jobs whose metadata contains this JSON object."
        value={draft.metadata}
        error={metadataOf(draft) === null ? 'Enter a JSON object.' : faults.of('filter.metadata')}
        onChange={({ target }) => change({ metadata: target.value })}
      />
    </FormDialog>
  );
}

function RoleField({ value, onChange }: { value: string | null; onChange: (role: string | null) => void }) {
  return (
    <SelectFilter
      label="Role"
      any="Jobs of any worker"
      value={value ?? undefined}
      options={useRoleNames(value).map((name) => ({ value: name, label: `Only jobs of ${name}` }))}
      onChange={(chosen) => onChange(chosen ?? null)}
    />
  );
}
