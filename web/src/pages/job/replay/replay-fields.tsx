/** The fields of a replay. */
import { TriangleAlert } from 'lucide-react';
import { FIELDS } from '../../../config-editor/fields.ts';
import { TOOL_MODES, type ToolMode } from '../../../data/jobs/replay-settings.ts';
import { useModels } from '../../../data/names.ts';
import { Field, TextArea, TextField } from '../../../ui/forms/field.tsx';
import { Select } from '../../../ui/forms/select.tsx';
import { jobWords } from '../../../words.ts';
import type { ReplayDraft } from './draft.ts';
import css from './replay.module.css';

const words = jobWords.replay;

const MODES = TOOL_MODES.map((value) => ({ value, label: words.modes[value].label }));

type Props = {
  draft: ReplayDraft;
  tools: ToolMode;
  /** Where the values are from. */
  note: string | undefined;
  /** Of the parameters. */
  fault: string | null;
  disabled: boolean;
  onChange: (change: Partial<ReplayDraft>) => void;
  onTools: (tools: ToolMode) => void;
};

export function ReplayFields({ draft, tools, note, fault, disabled, onChange, onTools }: Props) {
  const models = useModels();
  return (
    <fieldset className={css.fields} disabled={disabled}>
      <TextField
        label={FIELDS.model.label}
        value={draft.model}
        suggestions={models}
        spellCheck={false}
        onChange={({ target }) => onChange({ model: target.value })}
      />
      <TextArea
        label={FIELDS.system_prompt.label}
        rows={6}
        value={draft.systemPrompt}
        hint={note}
        onChange={({ target }) => onChange({ systemPrompt: target.value })}
      />
      <TextArea
        label={FIELDS.parameters.label}
        rows={4}
        spellCheck={false}
        value={draft.parameters}
        error={fault}
        onChange={({ target }) => onChange({ parameters: target.value })}
      />
      <Field label={words.tools} hint={words.modes[tools].about}>
        {(tie) => <Select {...tie} value={tools} options={MODES} onChange={onTools} />}
      </Field>
      {tools !== 'none' && (
        <p className={css.warning} role="note">
          <TriangleAlert aria-hidden="true" />
          {words.warning}
        </p>
      )}
    </fieldset>
  );
}
