/** The form for a config: of a worker, and of a role. */
import { CircleAlert } from 'lucide-react';
import { useModels, useProviders, useServers, useTools } from '../data/names.ts';
import { Tabs } from '../ui/layout/tabs.tsx';
import { ApprovalRules } from './approval-rules.tsx';
import css from './config-editor.module.css';
import { LABELS } from './draft.ts';
import type { ConfigMember } from './draft.ts';
import { Choice, Code, Count, Line, Names, Prose } from './fields.tsx';
import type { Edited } from './fields.tsx';
import { PinnedTexts } from './pinned-texts.tsx';

type PartProps = { edited: Edited };

export function ConfigEditor(edited: Edited) {
  return (
    <Tabs
      label="Settings"
      tabs={PARTS.map(({ name, label, checked, Part }) => ({
        name,
        label: (
          <>
            {label}{' '}
            {checked.some((member) => edited.faults[member] !== undefined) && (
              <CircleAlert className={css.mark} role="img" aria-label="has errors" />
            )}
          </>
        ),
        content: (
          <div className={css.fields}>
            <Part edited={edited} />
          </div>
        ),
      }))}
    />
  );
}

/** `checked`: the fields whose values may be wrong. */
const PARTS: readonly {
  name: string;
  label: string;
  checked: readonly ConfigMember[];
  Part: (props: PartProps) => React.ReactNode;
}[] = [
  { name: 'model', label: 'Model', checked: [], Part: ModelPart },
  { name: 'tools', label: 'Tools and approval', checked: ['client_tools'], Part: ToolsPart },
  {
    name: 'limits',
    label: 'Limits',
    checked: ['max_tokens', 'max_steps', 'context_limit', 'idle_timeout_s', 'compaction', 'limits'],
    Part: LimitsPart,
  },
  { name: 'pinned', label: 'Pinned', checked: [], Part: PinnedPart },
  { name: 'more', label: 'More', checked: ['parameters'], Part: MorePart },
];

const MODES = [
  { value: 'act', label: 'Act' },
  { value: 'plan', label: 'Plan: only tools without effects' },
] as const;

const STREAMING = [
  { value: 'on', label: 'On' },
  { value: 'off', label: 'Off' },
] as const;

function ModelPart({ edited }: PartProps) {
  const { draft, unset, onChange } = edited;
  return (
    <>
      <Line
        member="model"
        edited={edited}
        hint={`provider/model. Configured providers: ${useProviders().join(', ') || 'none'}`}
        suggestions={useModels()}
        placeholder={unset.model}
      />
      <div className={css.pair}>
        <Choice
          label={LABELS.mode}
          edited={edited}
          value={draft.mode}
          options={MODES}
          onChange={(mode) => onChange({ mode })}
        />
        <Choice
          label={LABELS.streaming}
          edited={edited}
          value={draft.streaming}
          options={STREAMING}
          onChange={(streaming) => onChange({ streaming })}
        />
      </div>
      <Prose member="system_prompt" edited={edited} rows={8} />
    </>
  );
}

function ToolsPart({ edited }: PartProps) {
  const { draft, unset, isReadOnly, onChange } = edited;
  const servers = useServers();
  const tools = useTools(draft.mcp_servers);
  return (
    <>
      <Names member="tools" edited={edited} known={tools} hint={unset.tools} />
      {servers.length + draft.mcp_servers.length > 0 && (
        <Names member="mcp_servers" edited={edited} known={servers} hint="Includes all tools of a server." />
      )}
      <ApprovalRules
        items={draft.approval}
        isReadOnly={isReadOnly}
        tools={[...new Set([...tools, ...draft.tools])]}
        onChange={(approval) => onChange({ approval })}
      />
      <Code
        member="client_tools"
        edited={edited}
        rows={4}
        hint="JSON array of objects with name, description and input_schema."
      />
    </>
  );
}

function LimitsPart({ edited }: PartProps) {
  return (
    <>
      <div className={css.pair}>
        <Count member="max_tokens" edited={edited} hint="Output tokens per answer." />
        <Count member="max_steps" edited={edited} hint="Model calls per job." />
        <Count member="context_limit" edited={edited} hint="Tokens per prompt." />
        <Count
          member="idle_timeout_s"
          edited={edited}
          hint="Seconds without activity until the context is archived."
        />
      </div>
      <Code
        member="compaction"
        edited={edited}
        rows={4}
        hint="JSON object: type (threshold, llm, none), threshold, keep_turns, model."
      />
      <Code
        member="limits"
        edited={edited}
        rows={3}
        hint="JSON object with the limits of workers below this one: depth, children, workers."
      />
    </>
  );
}

function PinnedPart({ edited: { draft, isReadOnly, onChange } }: PartProps) {
  return (
    <PinnedTexts items={draft.pinned} isReadOnly={isReadOnly} onChange={(pinned) => onChange({ pinned })} />
  );
}

function MorePart({ edited }: PartProps) {
  return (
    <Code
      member="parameters"
      edited={edited}
      rows={8}
      hint="JSON object, passed to the provider unchanged."
    />
  );
}
