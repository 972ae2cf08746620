import { useModels, useProviders, useServers, useTools } from '../data/names.ts';
import { Choices } from '../ui/forms/choices.tsx';
import { Field, TextArea, TextField } from '../ui/forms/field.tsx';
import { Select, type Option } from '../ui/forms/select.tsx';
import { ApprovalRules } from './approval-rules.tsx';
import css from './config-editor.module.css';
import type { ConfigMember, TextMember } from './draft.ts';
import type { EditedConfig } from './edited.ts';
import { FIELDS } from './fields.ts';
import { PinnedTexts } from './pinned-texts.tsx';
import { configWords } from '../words.ts';

type Props<Member> = { member: Member; edited: EditedConfig };

const MODES = (['act', 'plan'] as const).map((value) => ({ value, label: configWords.modes[value] }));

const STREAMING = (['on', 'off'] as const).map((value) => ({ value, label: configWords.streaming[value] }));

export function ConfigField({ member, edited }: Props<ConfigMember>) {
  switch (member) {
    case 'model':
      return <Model edited={edited} />;
    case 'mode':
      return <Choice member={member} edited={edited} options={MODES} />;
    case 'streaming':
      return <Choice member={member} edited={edited} options={STREAMING} />;
    case 'system_prompt':
      return <TextArea rows={FIELDS[member].rows} {...bind(edited, member)} />;
    case 'tools':
      return <Tools edited={edited} />;
    case 'mcp_servers':
      return <Servers edited={edited} />;
    case 'approval':
      return <ApprovalRules edited={edited} />;
    case 'pinned':
      return <PinnedTexts edited={edited} />;
    case 'max_tokens':
    case 'context_limit':
    case 'max_steps':
    case 'output_retries':
    case 'idle_timeout_s':
      return <TextField inputMode="numeric" autoComplete="off" {...bind(edited, member)} />;
    case 'compaction':
    case 'client_tools':
    case 'parameters':
    case 'limits':
    case 'output_schema':
      return <TextArea rows={FIELDS[member].rows} className={css.code} spellCheck={false} {...bind(edited, member)} />;
  }
}

/** What a text field needs. */
function bind({ draft, faults, isReadOnly, onChange }: EditedConfig, member: TextMember) {
  const { label, hint } = FIELDS[member];
  return {
    label,
    hint,
    value: draft[member],
    readOnly: isReadOnly,
    error: faults[member],
    onChange: ({ target }: { target: { value: string } }) => onChange({ [member]: target.value }),
  };
}

function Model({ edited }: { edited: EditedConfig }) {
  return (
    <TextField
      {...bind(edited, 'model')}
      hint={configWords.modelHint(useProviders())}
      suggestions={useModels()}
      placeholder={edited.unset.model}
    />
  );
}

/** The options of a select box are not empty: this one stands for the empty value. */
const UNSET = 'unset';

function Choice({
  member,
  edited: { draft, isReadOnly, unset, onChange },
  options,
}: Props<'mode' | 'streaming'> & { options: readonly Option<string>[] }) {
  return (
    <Field label={FIELDS[member].label}>
      {(tie) => (
        <Select
          {...tie}
          disabled={isReadOnly}
          value={draft[member] || UNSET}
          options={[{ value: UNSET, label: unset.choice }, ...options]}
          onChange={(chosen) => onChange({ [member]: chosen === UNSET ? '' : chosen })}
        />
      )}
    </Field>
  );
}

function Tools({ edited: { draft, isReadOnly, unset, onChange } }: { edited: EditedConfig }) {
  return (
    <Choices
      label={FIELDS.tools.label}
      hint={unset.tools}
      disabled={isReadOnly}
      known={useTools(draft.mcp_servers)}
      chosen={draft.tools}
      onChange={(tools) => onChange({ tools })}
    />
  );
}

function Servers({ edited: { draft, isReadOnly, onChange } }: { edited: EditedConfig }) {
  const servers = useServers();
  if (servers.length + draft.mcp_servers.length === 0) return null;
  return (
    <Choices
      label={FIELDS.mcp_servers.label}
      hint={FIELDS.mcp_servers.hint}
      disabled={isReadOnly}
      known={servers}
      chosen={draft.mcp_servers}
      onChange={(names) => onChange({ mcp_servers: names })}
    />
  );
}
