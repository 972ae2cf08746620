import type { Job } from 'nightshift/client';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { Table } from '../../ui/layout/table.tsx';
import { RelativeTime } from '../../ui/text/time.tsx';
import { Checkbox } from '../../ui/forms/checkbox.tsx';
import { Tokens } from '../../ui/text/tokens.tsx';
import { ContextLink, JobLine, JobLink, SelectJob, Took } from './job-parts.tsx';
import css from './jobs.module.css';
import type { Selection } from './use-selection.ts';

export function JobTable({ jobs, selection }: { jobs: readonly Job[]; selection: Selection }) {
  return (
    <Table
      label="Jobs"
      rows={jobs}
      rowKey={({ id }) => id}
      columns={[
        {
          name: 'select',
          head: (
            <Checkbox
              label="Select all unfinished jobs shown"
              hideLabel
              checked={selection.all}
              onChange={selection.setAll}
            />
          ),
          cell: (job) => <SelectJob job={job} selection={selection} />,
        },
        {
          name: 'job',
          head: 'Job',
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
          head: 'Context',
          cell: (job) => <ContextLink job={job} />,
        },
        { name: 'status', head: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
        { name: 'usage', head: 'Tokens', kind: 'right', cell: ({ usage }) => <Tokens usage={usage} /> },
        { name: 'took', head: 'Duration', kind: 'right', cell: (job) => <Took job={job} /> },
        { name: 'created', head: 'Created', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
      ]}
    />
  );
}
