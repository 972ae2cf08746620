import { useState } from 'react';
import { Wrench } from 'lucide-react';
import type { ToolInfo } from 'nightshift/client';
import { Badge } from '../../ui/text/badge.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { TextField } from '../../ui/forms/field.tsx';
import { OfSystem } from './of-system.tsx';
import listCss from '../../ui/list.module.css';
import css from './settings.module.css';

const SOURCES: Readonly<Record<ToolInfo['source'], string>> = {
  own: 'Config file',
  built_in: 'Built in',
  mcp: 'MCP server',
  elsewhere: 'Another process',
};
const APPROVALS: Readonly<Record<NonNullable<ToolInfo['approval']>, string>> = {
  never: 'runs without approval',
  always: 'needs approval',
  deny: 'denied',
  by_call: 'approval depends on the call',
};
const EFFECTS: Readonly<Record<NonNullable<ToolInfo['effect']>, string>> = {
  none: 'no effects',
  idempotent: 'idempotent',
  once: 'runs once',
};

export function ToolsTab() {
  const [text, setText] = useState('');
  return (
    <OfSystem>
      {({ tools }) => (
        <div className={listCss.stack}>
          <TextField label="Find a tool" type="search" value={text} onChange={({ target }) => setText(target.value)} />
          <ToolList tools={tools.filter((tool) => says(tool, text))} />
        </div>
      )}
    </OfSystem>
  );
}

function says({ name, description }: ToolInfo, text: string): boolean {
  return `${name} ${description ?? ''}`.toLowerCase().includes(text.trim().toLowerCase());
}

export function ToolList({ tools }: { tools: readonly ToolInfo[] }) {
  if (tools.length === 0) return <Empty icon={<Wrench aria-hidden="true" />} title="No matching tools" />;
  return (
    <ul className={listCss.items} aria-label="Tools">
      {tools.map((tool) => (
        <li key={`${tool.source} ${tool.name}`} className={listCss.item}>
          <div className={listCss.itemHead}>
            <code className={listCss.strong}>{tool.name}</code>
            <Badge>{SOURCES[tool.source]}</Badge>
            {tool.effect !== null && (
              <Badge tone={tool.effect === 'once' ? 'amber' : 'neutral'}>{EFFECTS[tool.effect]}</Badge>
            )}
            {tool.approval !== null && tool.approval !== 'never' && (
              <Badge tone={tool.approval === 'deny' ? 'red' : 'accent'}>{APPROVALS[tool.approval]}</Badge>
            )}
            {!tool.served && <Badge tone="red">no worker process has it</Badge>}
          </div>
          {tool.description !== null && <p className={css.about}>{tool.description}</p>}
        </li>
      ))}
    </ul>
  );
}
