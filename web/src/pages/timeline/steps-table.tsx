/** The rows of the chart as a table. */
import { useNow } from '../../ui/state/clock.ts';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { Table } from '../../ui/layout/table.tsx';
import { formatDuration } from '../../ui/text/time.tsx';
import { Tokens } from '../../ui/text/tokens.tsx';
import { STRETCHES, type Row } from './rows.ts';

const KINDS = { model: 'Model', tool: 'Tool', wait: 'Wait', compact: 'Compaction' } as const;

export function StepsTable({ rows }: { rows: readonly Row[] }) {
  const now = useNow();
  const begin = rows[0]?.from ?? 0;
  return (
    <Table
      label="Steps"
      rows={rows}
      rowKey={({ id }) => id}
      columns={[
        { name: 'kind', head: 'Kind', cell: kindOf },
        { name: 'name', head: 'Name', cell: ({ name }) => name },
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
              .map(({ kind, from, to }) => `${STRETCHES[kind]} ${formatDuration((to ?? now) - from)}`)
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
