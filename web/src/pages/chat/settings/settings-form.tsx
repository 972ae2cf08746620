import { useModels, useServers, useTools } from '../../../data/names.ts';
import { Choices } from '../../../ui/forms/choices.tsx';
import { Field, TextArea, TextField } from '../../../ui/forms/field.tsx';
import { Select } from '../../../ui/forms/select.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { ApprovalRules } from './approval-rules.tsx';
import { NAMES } from './draft.ts';
import type { Draft, Member } from './draft.ts';
import { PinnedTexts } from './pinned-texts.tsx';
import css from './settings.module.css';

export type FormProps = {
  draft: Draft;
  wrong: { member: Member; message: string } | null;
  onChange: (draft: Draft) => void;
};

export function SettingsForm(props: FormProps) {
  return (
    <Tabs
      label="Settings"
      tabs={[
        { name: 'model', label: 'Model', content: <ModelPart {...props} /> },
        { name: 'tools', label: 'Tools and approval', content: <ToolsPart {...props} /> },
        { name: 'limits', label: 'Limits', content: <LimitsPart {...props} /> },
        { name: 'pinned', label: 'Pinned', content: <PinnedPart {...props} /> },
        { name: 'more', label: 'More', content: <MorePart {...props} /> },
      ]}
    />
  );
}

const MODES = [
  { value: 'role', label: 'From the role' },
  { value: 'act', label: 'Act' },
  { value: 'plan', label: 'Plan: only tools without effects' },
] as const;

const STREAMING = [
  { value: 'role', label: 'From the role' },
  { value: 'on', label: 'On' },
  { value: 'off', label: 'Off' },
] as const;

function ModelPart({ draft, wrong, onChange }: FormProps) {
  const models = useModels();
  return (
    <div className={css.fields}>
      <Text member="title" {...{ draft, wrong, onChange }} />
      <Text
        member="model"
        hint="provider/model"
        suggestions={models}
        placeholder="From the role"
        {...{ draft, wrong, onChange }}
      />
      <div className={css.pair}>
        <Field label={NAMES.mode}>
          {({ id }) => (
            <Select
              id={id}
              value={draft.mode}
              options={MODES}
              onChange={(mode) => onChange({ ...draft, mode })}
            />
          )}
        </Field>
        <Field label={NAMES.streaming}>
          {({ id }) => (
            <Select
              id={id}
              value={draft.streaming}
              options={STREAMING}
              onChange={(streaming) => onChange({ ...draft, streaming })}
            />
          )}
        </Field>
      </div>
      <Area member="system_prompt" rows={8} {...{ draft, wrong, onChange }} />
    </div>
  );
}

function ToolsPart(props: FormProps) {
  const { draft, onChange } = props;
  const servers = useServers();
  const tools = useTools(draft.mcp_servers);
  return (
    <div className={css.fields}>
      <Names member="tools" known={tools} hint="Empty: the tools of the role." {...props} />
      {servers.length + draft.mcp_servers.length > 0 && (
        <Names member="mcp_servers" known={servers} hint="Includes all tools of a server." {...props} />
      )}
      <ApprovalRules
        rules={draft.approval}
        tools={[...new Set([...tools, ...draft.tools])]}
        onChange={(approval) => onChange({ ...draft, approval })}
      />
      <Area
        member="client_tools"
        rows={4}
        hint="JSON array of objects with name, description and input_schema."
        code
        {...props}
      />
    </div>
  );
}

function LimitsPart(props: FormProps) {
  return (
    <div className={css.fields}>
      <div className={css.pair}>
        <Text member="max_tokens" hint="Output tokens per answer." inputMode="numeric" {...props} />
        <Text member="max_steps" hint="Model calls per job." inputMode="numeric" {...props} />
        <Text member="context_limit" hint="Tokens per prompt." inputMode="numeric" {...props} />
        <Text
          member="idle_timeout_s"
          hint="Seconds without activity until the context is archived."
          inputMode="numeric"
          {...props}
        />
      </div>
      <Area
        member="compaction"
        rows={4}
        code
        hint="JSON object: type (threshold, llm, none), threshold, keep_turns, model."
        {...props}
      />
      <Area
        member="limits"
        rows={3}
        code
        hint="JSON object with the limits of workers below this one: depth, children, workers."
        {...props}
      />
    </div>
  );
}

function PinnedPart({ draft, onChange }: FormProps) {
  return <PinnedTexts texts={draft.pinned} onChange={(pinned) => onChange({ ...draft, pinned })} />;
}

function MorePart(props: FormProps) {
  return (
    <div className={css.fields}>
      <Area
        member="parameters"
        rows={8}
        code
        hint="JSON object, passed to the provider unchanged."
        {...props}
      />
    </div>
  );
}

type MemberOf<Value> = {
  [M in Member]: Draft[M] extends Value ? (Value extends Draft[M] ? M : never) : never;
}[Member];

function Text({
  member,
  draft,
  wrong,
  onChange,
  ...rest
}: FormProps & {
  member: MemberOf<string>;
  hint?: string;
  suggestions?: readonly string[];
  placeholder?: string;
  inputMode?: 'numeric';
}) {
  return (
    <TextField
      label={NAMES[member]}
      autoComplete="off"
      value={draft[member]}
      error={wrong?.member === member ? wrong.message : null}
      onChange={({ target }) => onChange({ ...draft, [member]: target.value })}
      {...rest}
    />
  );
}

function Names({
  member,
  draft,
  onChange,
  known,
  hint,
}: FormProps & { member: MemberOf<readonly string[]>; known: readonly string[]; hint: string }) {
  return (
    <Choices
      label={NAMES[member]}
      hint={hint}
      known={known}
      chosen={draft[member]}
      onChange={(names) => onChange({ ...draft, [member]: names })}
    />
  );
}

function Area({
  member,
  draft,
  wrong,
  onChange,
  code = false,
  ...rest
}: FormProps & { member: MemberOf<string>; rows: number; hint?: string; code?: boolean }) {
  return (
    <TextArea
      label={NAMES[member]}
      value={draft[member]}
      spellCheck={!code}
      className={code ? css.code : undefined}
      error={wrong?.member === member ? wrong.message : null}
      onChange={({ target }) => onChange({ ...draft, [member]: target.value })}
      {...rest}
    />
  );
}
