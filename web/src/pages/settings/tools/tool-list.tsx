/** The tools of an MCP server, as a list. */
import { Wrench } from 'lucide-react';
import type { ToolInfo } from 'nightshift/client';
import { Empty } from '../../../ui/layout/empty.tsx';
import { toolCatalogueWords as words } from '../../../words.ts';
import { LongList } from '../../../ui/layout/long-list.tsx';
import { ToolBadges } from './tool-badges.tsx';
import listCss from '../../../ui/list.module.css';
import css from '../settings.module.css';

export function ToolList({ tools }: { tools: readonly ToolInfo[] }) {
  if (tools.length === 0) return <Empty icon={<Wrench aria-hidden="true" />} title={words.none} />;
  return (
    <LongList label={words.list} className={listCss.items} items={tools} itemKey={({ name }) => name}>
      {(tool, place) => (
        <li key={tool.name} {...place} className={listCss.item}>
          <div className={listCss.itemHead}>
            <code className={listCss.strong}>{tool.name}</code>
            <ToolBadges tool={tool} />
          </div>
          {tool.description !== null && <p className={css.about}>{tool.description}</p>}
        </li>
      )}
    </LongList>
  );
}
