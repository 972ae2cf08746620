/** The form for a config: of a worker, and of a role. */
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../ui/forms/button.tsx';
import { Tabs } from '../ui/layout/tabs.tsx';
import { ErrorText } from '../ui/state/error-text.tsx';
import css from './config-editor.module.css';
import { ConfigField } from './config-field.tsx';
import type { ConfigMember } from './draft.ts';
import type { EditedConfig } from './edited.ts';
import { commonWords, configWords } from '../words.ts';

type Part = {
  name: keyof typeof configWords.parts;
  /** The fields of a group are beside each other. */
  groups: readonly (readonly ConfigMember[])[];
};

const PARTS: readonly Part[] = [
  { name: 'model', groups: [['model'], ['mode', 'streaming'], ['system_prompt']] },
  {
    name: 'tools',
    groups: [['tools'], ['mcp_servers'], ['approval'], ['client_tools']],
  },
  {
    name: 'limits',
    groups: [
      ['max_tokens', 'max_steps', 'context_limit', 'idle_timeout_s'],
      ['output_schema', 'output_retries'],
      ['compaction'],
      ['limits'],
    ],
  },
  { name: 'pinned', groups: [['pinned']] },
  { name: 'more', groups: [['parameters']] },
];

type Props = {
  edited: EditedConfig;
  /** Above the fields of the config: those of the page. */
  children: ReactNode;
  /** Above the buttons. */
  notice?: ReactNode;
  saving: { isPending: boolean; error: unknown };
  canSave: boolean;
  onSave: () => void;
  onClose: () => void;
};

export function ConfigEditor({ edited, children, notice, saving, canSave, onSave, onClose }: Props) {
  const refused = edited.effective?.settings.not_allowed ?? null;
  return (
    <form
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (canSave) onSave();
      }}
    >
      {children}
      {refused !== null && (
        <p className={css.refused} role="status">
          {configWords.jobsFail(refused)}
        </p>
      )}
      <Tabs label={configWords.title} tabs={PARTS.map((part) => toTab(part, edited))} />
      {saving.error !== null && (
        <div className={css.error} role="alert">
          <ErrorText error={saving.error} />
        </div>
      )}
      {notice}
      <div className={css.actions}>
        <Button onClick={onClose}>{edited.isReadOnly ? commonWords.close : commonWords.cancel}</Button>
        {!edited.isReadOnly && (
          <Button type="submit" variant="primary" busy={saving.isPending} disabled={!canSave}>
            {commonWords.save}
          </Button>
        )}
      </div>
    </form>
  );
}

function toTab({ name, groups }: Part, edited: EditedConfig) {
  const isWrong = groups.flat().some((member) => edited.faults[member] !== undefined);
  return {
    name,
    label: (
      <>
        {configWords.parts[name]}{' '}
        {isWrong && <CircleAlert className={css.mark} role="img" aria-label={configWords.hasErrors} />}
      </>
    ),
    content: groups.map((members) => (
      <div key={members.join(' ')} className={css.group}>
        {members.map((member) => (
          <ConfigField key={member} member={member} edited={edited} />
        ))}
      </div>
    )),
  };
}
