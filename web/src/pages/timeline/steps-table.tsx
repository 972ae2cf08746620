/** The rows of the chart as a table, in pages. */
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../../ui/forms/button.tsx';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { Table } from '../../ui/layout/table.tsx';
import { formatDuration } from '../../ui/text/time.tsx';
import { Tokens } from '../../ui/text/tokens.tsx';
import type { Row } from './rows/rows.ts';
import type { ShownRow } from './rows/tree.ts';
import { timelineWords } from '../../words.ts';
import css from './timeline.module.css';

const KINDS = { model: 'Model', tool: 'Tool', wait: 'Wait', compact: 'Compaction' } as const;

const PAGE = 50;

export function StepsTable({ shown, now }: { shown: readonly ShownRow[]; now: number }) {
  const [first, setFirst] = useState(0);
  const all = shown.flatMap((one) => (one.kind === 'row' ? [{ ...one.row, key: one.key, level: one.level }] : []));
  const from = Math.min(first, Math.floor(Math.max(0, all.length - 1) / PAGE) * PAGE);
  const page = all.slice(from, from + PAGE);
  const begin = all[0]?.from ?? 0;
  return (
    <>
      <Rows rows={page} begin={begin} now={now} />
      {all.length > PAGE && (
        <div className={css.pager}>
          <IconButton label={timelineWords.earlierRows} disabled={from === 0} onClick={() => setFirst(from - PAGE)}>
            <ChevronLeft />
          </IconButton>
          <span role="status">{timelineWords.shown(from + 1, from + page.length, all.length)}</span>
          <IconButton
            label={timelineWords.laterRows}
            disabled={from + PAGE >= all.length}
            onClick={() => setFirst(from + PAGE)}
          >
            <ChevronRight />
          </IconButton>
        </div>
      )}
    </>
  );
}

type TableRow = Row & Pick<ShownRow, 'key' | 'level'>;

function Rows({ rows, begin, now }: { rows: readonly TableRow[]; begin: number; now: number }) {
  return (
    <Table
      label="Steps"
      rows={rows}
      rowKey={({ key }) => key}
      columns={[
        { name: 'kind', head: 'Kind', cell: kindOf },
        {
          name: 'name',
          head: 'Name',
          cell: ({ name, level }) => <span style={{ paddingLeft: `${(level - 1) * 16}px` }}>{name}</span>,
        },
        { name: 'status', head: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
        { name: 'attempt', head: 'Attempt', kind: 'right', cell: (row) => attemptOf(row) },
        {
          name: 'after',
          head: 'Start offset',
          kind: 'right',
          cell: ({ from }) => formatDuration(from - begin),
        },
        {
          name: 'took',
          head: 'Duration',
          kind: 'right',
          cell: ({ from, to }) => formatDuration((to ?? now) - from),
        },
        {
          name: 'of',
          head: 'Breakdown',
          kind: 'wide',
          cell: ({ stretches }) =>
            stretches
              .map(({ kind, from, to }) => `${timelineWords.stretches[kind]} ${formatDuration((to ?? now) - from)}`)
              .join(', '),
        },
        {
          name: 'tokens',
          head: 'Tokens',
          kind: 'right',
          cell: (row) => {
            const usage = row.kind === 'step' ? row.step.usage : row.kind === 'child' ? row.job.usage : null;
            return usage === null ? '' : <Tokens usage={usage} />;
          },
        },
      ]}
    />
  );
}

function kindOf(row: Row): string {
  if (row.kind === 'step') return KINDS[row.step.kind];
  return row.kind === 'child' ? 'Child' : 'Queue';
}

function attemptOf(row: Row): number | '' {
  return row.kind === 'step' ? (row.step.attempt ?? '') : '';
}
