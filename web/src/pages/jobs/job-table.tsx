import type { Job } from 'nightshift/client';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { Table } from '../../ui/layout/table.tsx';
import { RelativeTime } from '../../ui/text/time.tsx';
import { Checkbox } from '../../ui/forms/checkbox.tsx';
import { Tokens } from '../../ui/text/tokens.tsx';
import { ContextLink, JobLine, JobLink, SelectJob, Took } from './job-parts.tsx';
import { jobsWords, placeWords } from '../../words.ts';
import css from './jobs.module.css';
import type { Selection } from './use-selection.ts';

const { columns: words, selection: selectionWords } = jobsWords;

export function JobTable({ jobs, selection }: { jobs: readonly Job[]; selection: Selection }) {
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
            <div className={css.job}>
              <JobLink job={job} />
              <JobLine job={job} />
            </div>
          ),
        },
        {
          name: 'context',
          head: words.context,
          cell: (job) => <ContextLink job={job} />,
        },
        { name: 'status', head: words.status, cell: ({ status }) => <StatusBadge status={status} /> },
        { name: 'usage', head: words.tokens, kind: 'right', cell: ({ usage }) => <Tokens usage={usage} /> },
        { name: 'took', head: words.duration, kind: 'right', cell: (job) => <Took job={job} /> },
        { name: 'created', head: words.created, cell: ({ created_at }) => <RelativeTime at={created_at} /> },
      ]}
    />
  );
}
