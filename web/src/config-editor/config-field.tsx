import { useModels, useProviders, useServers, useTools } from '../data/names.ts';
import { Choices } from '../ui/forms/choices.tsx';
import { Field, TextArea, TextField } from '../ui/forms/field.tsx';
import { Select, type Option } from '../ui/forms/select.tsx';
import { AppliedLimits, RulesOfRole } from './added.tsx';
import { ApprovalRules } from './approval-rules.tsx';
import css from './config-editor.module.css';
import type { ConfigMember, TextMember } from './draft.ts';
import type { EditedConfig } from './edited.ts';
import { EffectiveTools } from './effective-tools.tsx';
import { FIELDS } from './fields.ts';
import { appliedOf, inheritedOf, orUnset } from './inherited.ts';
import { InheritedField } from './inherited-field.tsx';
import { OwnOrInherited } from './own-or-inherited.tsx';
import { PinnedTexts } from './pinned-texts.tsx';
import { configWords } from '../words.ts';

type Props<Member> = { member: Member; edited: EditedConfig };

const MODES = (['act', 'plan'] as const).map((value) => ({ value, label: configWords.modes[value] }));

const STREAMING = (['on', 'off'] as const).map((value) => ({ value, label: configWords.streaming[value] }));

/** What applies, where it is known: greyed without an own value, and a way back to it beside one. */
export function ConfigField({ member, edited }: Props<ConfigMember>) {
  const { effective, draft, isReadOnly } = edited;
  if (effective === null) return <Control member={member} edited={edited} />;
  if (member === 'approval')
    return (
      <div className={css.parts}>
        {!(isReadOnly && draft.approval === null) && <ApprovalRules edited={edited} />}
        <RulesOfRole effective={effective} />
        <EffectiveTools effective={effective} />
      </div>
    );
  if (member === 'limits')
    return (
      <div className={css.stack}>
        {!isReadOnly && <Control member={member} edited={edited} />}
        <AppliedLimits effective={effective} />
      </div>
    );
  if (isReadOnly) {
    const applied = appliedOf(effective, member);
    if (member !== 'model' && member !== 'mode' && member !== 'streaming')
      return <InheritedField member={member} applied={applied} onOverride={null} />;
    return (
      <div className={css.own}>
        <Control member={member} edited={{ ...edited, draft: { ...draft, [member]: applied.written } }} />
        <p className={css.source}>{applied.from}</p>
      </div>
    );
  }
  return (
    <OwnOrInherited member={member} inherited={inheritedOf(effective, member)} edited={edited}>
      <Control member={member} edited={edited} />
    </OwnOrInherited>
  );
}

function Control({ member, edited }: Props<ConfigMember>) {
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
function bind({ draft, faults, isReadOnly, effective, onChange }: EditedConfig, member: TextMember) {
  const { label, hint } = FIELDS[member];
  return {
    label,
    hint,
    value: draft[member] ?? '',
    readOnly: isReadOnly,
    error: faults[member],
    onChange: ({ target }: { target: { value: string } }) =>
      onChange({ [member]: effective === null && target.value === '' ? null : target.value }),
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
  edited: { draft, isReadOnly, effective, unset, onChange },
  options,
}: Props<'mode' | 'streaming'> & { options: readonly Option<string>[] }) {
  return (
    <Field label={FIELDS[member].label}>
      {(tie) => (
        <Select
          {...tie}
          disabled={isReadOnly}
          value={draft[member] || UNSET}
          options={[...(effective === null ? [{ value: UNSET, label: unset.choice }] : []), ...options]}
          onChange={(chosen) => onChange({ [member]: chosen === UNSET ? null : chosen })}
        />
      )}
    </Field>
  );
}

function Tools({ edited }: { edited: EditedConfig }) {
  const { draft, isReadOnly, effective, unset, onChange } = edited;
  return (
    <Choices
      label={FIELDS.tools.label}
      hint={effective === null ? unset.tools : undefined}
      disabled={isReadOnly}
      known={useTools(draft.mcp_servers ?? [])}
      chosen={draft.tools ?? []}
      onChange={(tools) => onChange({ tools: orUnset(edited, 'tools', [...tools]) })}
    />
  );
}

function Servers({ edited }: { edited: EditedConfig }) {
  const { draft, isReadOnly, onChange } = edited;
  const servers = useServers();
  const chosen = draft.mcp_servers ?? [];
  if (servers.length + chosen.length === 0) return null;
  return (
    <Choices
      label={FIELDS.mcp_servers.label}
      hint={FIELDS.mcp_servers.hint}
      disabled={isReadOnly}
      known={servers}
      chosen={chosen}
      onChange={(names) => onChange({ mcp_servers: orUnset(edited, 'mcp_servers', [...names]) })}
    />
  );
}
