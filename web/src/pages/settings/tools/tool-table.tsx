/** Tools with their use, as a table. */
import type { Tool, ToolUse } from 'nightshift/client';
import { Table, type Column } from '../../../ui/layout/table.tsx';
import { Badge } from '../../../ui/text/badge.tsx';
import { RelativeTime, formatDuration } from '../../../ui/text/time.tsx';
import { toolCatalogueWords as words } from '../../../words.ts';
import css from './tools.module.css';

type Row = { tool: Tool; use: ToolUse | null };
type Props = { tools: readonly Tool[]; uses: ReadonlyMap<string, ToolUse>; onOpen: (name: string) => void };

export function ToolTable({ tools, uses, onOpen }: Props) {
  const rows = tools.map((tool): Row => ({ tool, use: uses.get(tool.name) ?? null }));
  const { columns } = words;
  const ofUse =
    (show: (use: ToolUse) => React.ReactNode) =>
    ({ use }: Row) =>
      use === null ? <span className={css.nothing}>{words.nothing}</span> : show(use);
  const all: Column<Row>[] = [
    {
      name: 'name',
      head: columns.name,
      cell: ({ tool: { name } }) => (
        <button type="button" className={css.name} aria-label={words.open(name)} onClick={() => onOpen(name)}>
          <code>{name}</code>
        </button>
      ),
    },
    { name: 'kind', head: columns.kind, cell: ({ tool }) => <Badge>{words.sources[tool.source]}</Badge> },
    {
      name: 'about',
      head: columns.about,
      kind: 'wide',
      cell: ({ tool }) => <span title={tool.description ?? ''}>{tool.description ?? words.nothing}</span>,
    },
    { name: 'calls', head: columns.calls, kind: 'right', cell: ofUse(({ calls }) => calls.toLocaleString('en')) },
    {
      name: 'failed',
      head: columns.failed,
      kind: 'right',
      cell: ofUse(({ failed }) => (
        <span className={failed > 0 ? css.failed : undefined}>{failed.toLocaleString('en')}</span>
      )),
    },
    {
      name: 'duration',
      head: columns.duration,
      kind: 'right',
      cell: ofUse(({ duration_ms: ms }) =>
        ms === null ? words.nothing : words.quantiles(formatDuration(ms.p50), formatDuration(ms.p95)),
      ),
    },
    { name: 'last', head: columns.last, cell: ofUse(({ last_called_at: at }) => <RelativeTime at={at} />) },
  ];
  return <Table label={words.list} columns={all} rows={rows} rowKey={({ tool }) => tool.name} />;
}
