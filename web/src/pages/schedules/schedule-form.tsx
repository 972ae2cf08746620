/** Makes or changes a schedule. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Schedule } from 'nightshift/client';
import { useState } from 'react';
import { client } from '../../data/client.ts';
import { OWN_TIMEZONE } from '../../data/days.ts';
import { fieldFaults } from '../../data/field-faults.ts';
import { keys } from '../../data/query/keys.ts';
import { TextArea, TextField } from '../../ui/forms/field.tsx';
import { FormDialog } from '../../ui/layout/form-dialog.tsx';
import { showNotice } from '../../ui/layout/toaster.tsx';
import { emptyDraft, faultsOf, isComplete, toCreate, toDraft, toPatch } from './draft.ts';
import type { Edited } from './edited.ts';
import { PolicyFields } from './policy-fields.tsx';
import { TargetFields } from './target-fields.tsx';
import { TimingFields } from './timing-fields.tsx';
import { commonWords, schedulesWords } from '../../words.ts';

const SHOWN = ['name', 'cron', 'every_s', 'at', 'timezone', 'content', 'user', 'jitter_s'];
const OF_TARGET = ['target.context_id', 'target.worker.name', 'target.worker.role'];

const words = schedulesWords.form;

/** `known` null: a new schedule. */
export function ScheduleForm({ known, onClose }: { known: Schedule | null; onClose: () => void }) {
  const cache = useQueryClient();
  const [draft, setDraft] = useState(() => (known === null ? emptyDraft(OWN_TIMEZONE) : toDraft(known)));
  const save = useMutation({
    mutationFn: async () => {
      if (known === null) return void (await client.schedules.create(toCreate(draft)));
      const patch = toPatch(known, draft);
      if (patch !== null) await client.schedules.update(known.id, patch);
    },
    onSuccess: () => {
      showNotice(words.saved(draft.name.trim()));
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.schedules }),
  });
  const written = faultsOf(draft);
  const faults = fieldFaults(save.error, [...SHOWN, ...OF_TARGET]);
  const edited: Edited = {
    draft,
    faultOf: (path) => written[path] ?? faults.of(path),
    onChange: (changed) => {
      // What was refused is no longer what is written.
      if (save.isError) save.reset();
      setDraft({ ...draft, ...changed });
    },
  };
  const hasBlocks = known !== null && typeof known.content !== 'string';
  return (
    <FormDialog
      title={known === null ? schedulesWords.new : words.edit(known.name)}
      wide
      submit={known === null ? words.create : commonWords.save}
      canSubmit={Object.keys(written).length === 0 && isComplete(draft, hasBlocks)}
      saving={{ isPending: save.isPending, error: faults.rest }}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField
        label={commonWords.name}
        required
        maxLength={200}
        autoComplete="off"
        value={draft.name}
        error={edited.faultOf('name')}
        onChange={({ target }) => edited.onChange({ name: target.value })}
      />
      <TimingFields edited={edited} />
      <TargetFields edited={edited} isNew={known === null} />
      <TextArea
        label={words.input}
        required
        rows={4}
        hint={hasBlocks ? words.blocksHint : words.inputHint}
        value={draft.content}
        error={edited.faultOf('content')}
        onChange={({ target }) => edited.onChange({ content: target.value })}
      />
      <PolicyFields edited={edited} />
    </FormDialog>
  );
}
