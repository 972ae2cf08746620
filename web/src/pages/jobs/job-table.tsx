import { ArrowDown, ArrowUp } from 'lucide-react';
import type { Job } from 'nightshift/client';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { Table, type Column } from '../../ui/layout/table.tsx';
import { formatCost } from '../../ui/text/cost.ts';
import { RelativeTime } from '../../ui/text/time.tsx';
import { Checkbox } from '../../ui/forms/checkbox.tsx';
import { Tokens } from '../../ui/text/tokens.tsx';
import type { JobOrder, JobSort } from '../../data/jobs/job-filter.ts';
import { directionOf, nextSort, orderOf, type ColumnName } from './columns.ts';
import { ContextLink, InputPreview, JobLine, JobLink, SelectJob, Took } from './job-parts.tsx';
import { jobsWords, placeWords } from '../../words.ts';
import css from './jobs.module.css';
import type { Selection } from './bulk/use-selection.ts';
import { useColumns } from './use-columns.ts';

const { columns: words, selection: selectionWords } = jobsWords;

export type ListProps = {
  jobs: readonly Job[];
  selection: Selection;
  sort: JobSort | undefined;
  onSort: (sort: JobSort | undefined) => void;
  /** There are jobs after these. */
  more: boolean;
};

export function JobTable({ jobs, selection, sort, onSort }: ListProps) {
  const [shown] = useColumns();
  const sorted = (name: JobOrder | undefined): Partial<Column<Job>> => {
    if (name === undefined) return {};
    const direction = directionOf(sort, name);
    return {
      ...(direction !== undefined && { sort: direction }),
      head: (
        <button type="button" className={css.sort} onClick={() => onSort(nextSort(sort, name))}>
          {words[name]}
          {direction === 'descending' && <ArrowDown aria-hidden="true" />}
          {direction === 'ascending' && <ArrowUp aria-hidden="true" />}
        </button>
      ),
    };
  };
  return (
    <Table
      label={placeWords.jobs}
      rows={jobs}
      rowKey={({ id }) => id}
      columns={[
        {
          name: 'select',
          head: <Checkbox label={selectionWords.all} hideLabel checked={selection.all} onChange={selection.setAll} />,
          cell: (job) => <SelectJob job={job} selection={selection} />,
        },
        {
          name: 'job',
          head: words.job,
          kind: 'wide',
          cell: (job) => (
            <>
              <div className={css.job}>
                <JobLink job={job} />
                <JobLine job={job} />
              </div>
              <InputPreview job={job} />
            </>
          ),
        },
        ...shown.map((name) => ({ ...CELLS[name], ...sorted(orderOf(name)) })),
      ]}
    />
  );
}

const CELLS: Readonly<Record<ColumnName, Column<Job>>> = {
  context: { name: 'context', head: words.context, cell: (job) => <ContextLink job={job} /> },
  worker: { name: 'worker', head: words.worker, cell: ({ worker_name }) => <Short text={worker_name} /> },
  role: { name: 'role', head: words.role, cell: ({ role }) => <Short text={role} /> },
  model: { name: 'model', head: words.model, cell: ({ model }) => <Short text={model} /> },
  user: { name: 'user', head: words.user, cell: ({ user }) => <Short text={user} /> },
  status: { name: 'status', head: words.status, cell: ({ status }) => <StatusBadge status={status} /> },
  tokens: { name: 'usage', head: words.tokens, kind: 'right', cell: ({ usage }) => <Tokens usage={usage} /> },
  cost: {
    name: 'cost',
    head: words.cost,
    kind: 'right',
    cell: ({ usage: { cost } }) => (cost === null ? '–' : <span title={`$${cost}`}>{formatCost(cost)}</span>),
  },
  duration: { name: 'took', head: words.duration, kind: 'right', cell: (job) => <Took job={job} /> },
  created: { name: 'created', head: words.created, cell: ({ created_at }) => <RelativeTime at={created_at} /> },
};

function Short({ text }: { text: string | null }) {
  if (text === null) return <>–</>;
  return (
    <span className={css.short} title={text}>
      {text}
    </span>
  );
}
