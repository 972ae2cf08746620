/** The newest runs of a schedule. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Schedule, ScheduleRun } from 'nightshift/client';
import { shortId } from '../../data/format.ts';
import { scheduleRunsQuery } from './queries.ts';
import { Dialog } from '../../ui/layout/dialog.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Table } from '../../ui/layout/table.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { RelativeTime } from '../../ui/text/time.tsx';
import { RunBadge } from './run-badge.tsx';
import { schedulesWords } from '../../words.ts';

const words = schedulesWords.runs;

export function RunsDialog({ schedule, onClose }: { schedule: Schedule | null; onClose: () => void }) {
  return (
    <Dialog open={schedule !== null} onClose={onClose} title={schedulesWords.item.runsOf(schedule?.name ?? '')} wide>
      {schedule !== null && <Runs id={schedule.id} />}
    </Dialog>
  );
}

function Runs({ id }: { id: string }) {
  const runs = useQuery(scheduleRunsQuery(id));
  if (runs.data === undefined)
    return runs.isError ? (
      <ErrorState error={runs.error} onRetry={() => void runs.refetch()} />
    ) : (
      <Skeleton lines={4} />
    );
  if (runs.data.data.length === 0) return <p>{words.none}</p>;
  return (
    <Table
      label={words.label}
      rows={runs.data.data}
      rowKey={(run) => run.id}
      columns={[
        { name: 'status', head: words.columns.status, cell: ({ status }) => <RunBadge status={status} /> },
        { name: 'at', head: words.columns.at, cell: ({ at }) => <RelativeTime at={at} /> },
        { name: 'job', head: words.columns.job, cell: jobOf },
        { name: 'why', head: words.columns.details, kind: 'wide', cell: detailsOf },
      ]}
    />
  );
}

function jobOf({ job_id: jobId }: ScheduleRun) {
  if (jobId === null) return '–';
  return (
    <Link to="/jobs/$jobId" params={{ jobId }}>
      {schedulesWords.item.job(shortId(jobId))}
    </Link>
  );
}

function detailsOf({ error, manual, status, missed_until: until }: ScheduleRun): string {
  if (error !== null) return error.message;
  if (until !== null) return words.missed;
  if (status === 'skipped') return words.skipped;
  return manual ? words.manual : '';
}
