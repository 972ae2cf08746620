/** The rows of the chart as a table, in pages. */
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../../../ui/forms/button.tsx';
import { StatusBadge } from '../../../ui/text/status-badge.tsx';
import { Table } from '../../../ui/layout/table.tsx';
import { formatDuration } from '../../../ui/text/time.tsx';
import { Tokens } from '../../../ui/text/tokens.tsx';
import type { Row } from './rows/rows.ts';
import type { ShownRow } from './rows/tree.ts';
import { commonWords, stretchWords, timelineWords } from '../../../words.ts';
import css from './timeline.module.css';

const { table: words, facts } = timelineWords;

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
          <IconButton label={words.earlierRows} disabled={from === 0} onClick={() => setFirst(from - PAGE)}>
            <ChevronLeft />
          </IconButton>
          <span role="status">{words.shown(from + 1, from + page.length, all.length)}</span>
          <IconButton
            label={words.laterRows}
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
      label={timelineWords.steps}
      rows={rows}
      rowKey={({ key }) => key}
      columns={[
        { name: 'kind', head: words.kind, cell: kindOf },
        {
          name: 'name',
          head: commonWords.name,
          cell: ({ name, level }) => <span style={{ paddingLeft: `${(level - 1) * 16}px` }}>{name}</span>,
        },
        { name: 'status', head: facts.status, cell: ({ status }) => <StatusBadge status={status} /> },
        { name: 'attempt', head: facts.attempt, kind: 'right', cell: (row) => attemptOf(row) },
        {
          name: 'after',
          head: words.startOffset,
          kind: 'right',
          cell: ({ from }) => formatDuration(from - begin),
        },
        {
          name: 'took',
          head: facts.duration,
          kind: 'right',
          cell: ({ from, to }) => formatDuration((to ?? now) - from),
        },
        {
          name: 'of',
          head: words.breakdown,
          kind: 'wide',
          cell: ({ stretches }) =>
            stretches
              .map(({ kind, from, to }) => `${stretchWords[kind]} ${formatDuration((to ?? now) - from)}`)
              .join(', '),
        },
        {
          name: 'tokens',
          head: facts.tokens,
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
  return words.kinds[row.kind === 'step' ? row.step.kind : row.kind];
}

function attemptOf(row: Row): number | '' {
  return row.kind === 'step' ? (row.step.attempt ?? '') : '';
}
