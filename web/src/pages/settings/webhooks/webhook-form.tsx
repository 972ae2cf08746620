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
import { commonWords, webhooksWords } from '../../../words.ts';

const words = webhooksWords.form;

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
      showNotice(words.saved);
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
      title={known === null ? webhooksWords.new : words.edit}
      submit={known === null ? words.create : commonWords.save}
      canSubmit={body !== null}
      saving={{ isPending: save.isPending, error: faults.rest }}
      onSubmit={() => body !== null && save.mutate(body)}
      onClose={onClose}
    >
      <TextField
        label={words.url}
        type="url"
        required
        maxLength={2000}
        autoComplete="off"
        placeholder={words.urlExample}
        hint={words.urlHint}
        value={draft.url}
        error={faults.of('url')}
        onChange={({ target }) => change({ url: target.value })}
      />
      <EventsField chosen={draft.events} error={faults.of('events')} onChange={(events) => change({ events })} />
      <RoleField value={draft.role} onChange={(role) => change({ role })} />
      <TextArea
        label={words.metadata}
        rows={3}
        spellCheck={false}
        placeholder={words.metadataExample}
        hint={words.metadataHint}
        value={draft.metadata}
        error={metadataOf(draft) === null ? words.metadataFault : faults.of('filter.metadata')}
        onChange={({ target }) => change({ metadata: target.value })}
      />
    </FormDialog>
  );
}

function RoleField({ value, onChange }: { value: string | null; onChange: (role: string | null) => void }) {
  return (
    <SelectFilter
      label={words.role}
      any={words.anyRole}
      value={value ?? undefined}
      options={useRoleNames(value).map((name) => ({ value: name, label: words.onlyRole(name) }))}
      onChange={(chosen) => onChange(chosen ?? null)}
    />
  );
}
