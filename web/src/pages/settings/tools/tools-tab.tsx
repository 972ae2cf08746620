/** All tools that are known, and what the tenant used of them. A tool has an address of its own (`?tool=`). */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Wrench } from 'lucide-react';
import { useState } from 'react';
import type { Tool, ToolUse } from 'nightshift/client';
import { useMay } from '../../../data/query/session.ts';
import { toolUseQuery, toolsQuery } from '../../../data/query/system.ts';
import { Segments } from '../../../ui/forms/filters.tsx';
import { TextField } from '../../../ui/forms/field.tsx';
import { Empty } from '../../../ui/layout/empty.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { Sentence } from '../../../ui/text/sentence.tsx';
import { Time } from '../../../ui/text/time.tsx';
import { toolCatalogueWords as words } from '../../../words.ts';
import { ToolDialog } from './tool-dialog.tsx';
import { ToolTable } from './tool-table.tsx';
import listCss from '../../../ui/list.module.css';
import css from '../settings.module.css';

const RANGES = (['24', '168'] as const).map((value) => ({ value, label: words.ranges[value] }));

/** Tools that were used and are not in the catalogue are listed, too. */
function withUsed(tools: readonly Tool[], use: readonly ToolUse[]): Tool[] {
  const known = new Set(tools.map(({ name }) => name));
  const others = use.filter(({ name }) => !known.has(name)).map(({ name }) => gone(name));
  return [...tools, ...others].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function gone(name: string): Tool {
  const unknown = { server: null, description: null, input_schema: null, effect: null, approval: null };
  return { name, source: 'sent', ...unknown, answered_by: null, timeout_ms: null, served: false, processes: null };
}

export function ToolsTab() {
  const [text, setText] = useState('');
  const { tool: shown, hours: given } = useSearch({ from: '/settings' });
  const navigate = useNavigate();
  const hours = given === '168' ? '168' : '24';
  const mayRead = useMay('read');
  const catalogue = useQuery(toolsQuery());
  const used = useQuery(toolUseQuery(Number(hours), mayRead));
  const go = (more: { tool?: string; hours?: string }): void =>
    void navigate({ to: '/settings', search: { tab: 'tools', ...more }, replace: true });
  const range = hours === '24' ? {} : { hours };
  if (catalogue.data === undefined)
    return catalogue.isError ? (
      <ErrorState error={catalogue.error} onRetry={() => void catalogue.refetch()} busy={catalogue.isFetching} />
    ) : (
      <Skeleton lines={5} height={24} />
    );
  const uses = new Map((used.data?.data ?? []).map((one) => [one.name, one]));
  const tools = withUsed(catalogue.data.data, used.data?.data ?? []);
  const found = tools.filter((tool) => says(tool, text));
  const opened = tools.find(({ name }) => name === shown);
  return (
    <div className={listCss.stack}>
      <div className={listCss.bar}>
        <p className={css.about}>{words.about(tools.length)}</p>
        <Segments
          label={words.range}
          value={hours}
          segments={RANGES}
          onChange={(value) => go({ ...(shown !== undefined && { tool: shown }), hours: value })}
        />
      </div>
      <TextField label={words.find} type="search" value={text} onChange={({ target }) => setText(target.value)} />
      {found.length === 0 ? (
        <Empty icon={<Wrench aria-hidden="true" />} title={words.none} />
      ) : (
        <ToolTable tools={found} uses={uses} onOpen={(name) => go({ tool: name, ...range })} />
      )}
      <p className={css.faint}>
        {mayRead ? words.aboutUse : words.noScope}{' '}
        {used.data !== undefined && (
          <Sentence text={words.since} gaps={{ from: <Time at={used.data.from} as="minute" /> }} />
        )}
      </p>
      {opened !== undefined && (
        <ToolDialog
          tool={opened}
          use={uses.get(opened.name) ?? null}
          hours={words.ranges[hours]}
          mayRead={mayRead}
          onClose={() => go(range)}
        />
      )}
    </div>
  );
}

function says({ name, description }: Tool, text: string): boolean {
  return `${name} ${description ?? ''}`.toLowerCase().includes(text.trim().toLowerCase());
}
