import { useState } from 'react';
import { Wrench } from 'lucide-react';
import type { ToolInfo } from 'nightshift/client';
import { Badge } from '../../ui/text/badge.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { TextField } from '../../ui/forms/field.tsx';
import { settingsWords } from '../../words.ts';
import { OfSystem } from './of-system.tsx';
import listCss from '../../ui/list.module.css';
import css from './settings.module.css';

const words = settingsWords.tools;

export function ToolsTab() {
  const [text, setText] = useState('');
  return (
    <OfSystem>
      {({ tools }) => (
        <div className={listCss.stack}>
          <TextField label={words.find} type="search" value={text} onChange={({ target }) => setText(target.value)} />
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
  if (tools.length === 0) return <Empty icon={<Wrench aria-hidden="true" />} title={words.none} />;
  return (
    <ul className={listCss.items} aria-label={settingsWords.tabs.tools}>
      {tools.map((tool) => (
        <li key={`${tool.source} ${tool.name}`} className={listCss.item}>
          <div className={listCss.itemHead}>
            <code className={listCss.strong}>{tool.name}</code>
            <Badge>{words.sources[tool.source]}</Badge>
            {tool.effect !== null && (
              <Badge tone={tool.effect === 'once' ? 'amber' : 'neutral'}>{words.effects[tool.effect]}</Badge>
            )}
            {tool.approval !== null && tool.approval !== 'never' && (
              <Badge tone={tool.approval === 'deny' ? 'red' : 'accent'}>{words.approvals[tool.approval]}</Badge>
            )}
            {!tool.served && <Badge tone="red">{words.unsupported}</Badge>}
          </div>
          {tool.description !== null && <p className={css.about}>{tool.description}</p>}
        </li>
      ))}
    </ul>
  );
}
