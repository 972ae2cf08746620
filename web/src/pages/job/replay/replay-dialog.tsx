/** Asks for what is different in the replay, and says what its tools do. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import type { Job } from 'nightshift/client';
import { useState } from 'react';
import { FIELDS } from '../../../config-editor/fields.ts';
import { shortId } from '../../../data/format.ts';
import { startReplay } from '../../../data/jobs/replay.ts';
import { TOOL_MODES, type Settings, type ToolMode } from '../../../data/jobs/replay-settings.ts';
import { useModels } from '../../../data/names.ts';
import { keys } from '../../../data/query/keys.ts';
import { Field, TextArea, TextField } from '../../../ui/forms/field.tsx';
import { Select } from '../../../ui/forms/select.tsx';
import { FormDialog } from '../../../ui/layout/form-dialog.tsx';
import { jobWords } from '../../../words.ts';
import { toPatch } from './draft.ts';
import css from './replay.module.css';

const words = jobWords.replay;

const MODES = TOOL_MODES.map((value) => ({ value, label: words.modes[value].label }));

type Props = { job: Job; settings: Settings; onClose: () => void };

export function ReplayDialog({ job, settings, onClose }: Props) {
  const [draft, setDraft] = useState({
    model: settings.model,
    systemPrompt: settings.systemPrompt,
    parameters: JSON.stringify(settings.parameters, null, 2),
  });
  const [tools, setTools] = useState<ToolMode>('ask');
  const models = useModels();
  const { patch, fault } = toPatch(settings, job.model, draft);
  const start = useStart(job, { settings, tools, onStarted: onClose });
  const change = (changed: Partial<typeof draft>): void => setDraft({ ...draft, ...changed });
  return (
    <FormDialog
      title={words.title}
      description={words.about}
      wide
      submit={words.submit}
      canSubmit={patch !== null}
      saving={start}
      onSubmit={() => patch !== null && start.mutate(patch)}
      onClose={onClose}
    >
      <TextField
        label={FIELDS.model.label}
        value={draft.model}
        suggestions={models}
        spellCheck={false}
        onChange={({ target }) => change({ model: target.value })}
      />
      <TextArea
        label={FIELDS.system_prompt.label}
        rows={6}
        value={draft.systemPrompt}
        hint={settings.isExact ? undefined : words.notExact}
        onChange={({ target }) => change({ systemPrompt: target.value })}
      />
      <TextArea
        label={FIELDS.parameters.label}
        rows={4}
        spellCheck={false}
        value={draft.parameters}
        error={fault}
        onChange={({ target }) => change({ parameters: target.value })}
      />
      <Field label={words.tools} hint={words.modes[tools].about}>
        {(tie) => <Select {...tie} value={tools} options={MODES} onChange={setTools} />}
      </Field>
      {tools !== 'none' && (
        <p className={css.warning} role="note">
          <TriangleAlert aria-hidden="true" />
          {words.warning}
        </p>
      )}
    </FormDialog>
  );
}

type Start = { settings: Settings; tools: ToolMode; onStarted: () => void };

function useStart(job: Job, { settings, tools, onStarted }: Start) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (patch: NonNullable<ReturnType<typeof toPatch>['patch']>) =>
      startReplay(job, job.input?.message_id ?? '', {
        settings,
        patch,
        tools,
        title: words.forkTitle(shortId(job.id)),
      }),
    onSuccess: (other) => {
      void cache.invalidateQueries({ queryKey: keys.contexts });
      onStarted();
      return navigate({
        to: '/jobs/$jobId',
        params: { jobId: job.id },
        search: { tab: 'compare', compare: other },
      });
    },
  });
}
