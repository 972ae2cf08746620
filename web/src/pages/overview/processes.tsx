/** Table of the live worker processes; the API lists them only for the admin key. */
import { useQuery } from '@tanstack/react-query';
import { Server } from 'lucide-react';
import { systemQuery } from '../../data/query/system.ts';
import { Card } from '../../ui/layout/card.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Table } from '../../ui/layout/table.tsx';
import { RelativeTime } from '../../ui/text/time.tsx';

export function Processes() {
  const system = useQuery({ ...systemQuery(), refetchInterval: 10_000 });
  const rows = system.data?.processes;
  return (
    <Card title="Worker processes" flush>
      {system.isPending && <Skeleton lines={2} height={24} />}
      {system.isError && rows === undefined && (
        <ErrorState error={system.error} onRetry={() => void system.refetch()} busy={system.isFetching} />
      )}
      {rows === null && (
        <Empty icon={<Server aria-hidden="true" />} title="Worker processes are visible with the admin key only">
          Call <code>GET /api/system</code> or <code>/metrics</code> with the admin key.
        </Empty>
      )}
      {rows?.length === 0 && (
        <Empty icon={<Server aria-hidden="true" />} title="No worker process is running">
          Jobs stay queued until you start one: <code>nightshift worker</code>.
        </Empty>
      )}
      {rows && rows.length > 0 && (
        <Table
          label="Worker processes"
          flush
          rows={rows}
          rowKey={({ id }) => id}
          columns={[
            { name: 'host', head: 'Host', kind: 'wide', cell: ({ host, pid }) => `${host}, pid ${pid}` },
            {
              name: 'running',
              head: 'Active contexts',
              kind: 'right',
              cell: ({ running, concurrency }) => `${running ?? '–'} of ${concurrency ?? '–'}`,
            },
            { name: 'version', head: 'Version', cell: ({ version }) => version },
            { name: 'since', head: 'Started', cell: ({ started_at }) => <RelativeTime at={started_at} /> },
            {
              name: 'beat',
              head: 'Last heartbeat',
              cell: ({ heartbeat_at }) => <RelativeTime at={heartbeat_at} />,
            },
          ]}
        />
      )}
    </Card>
  );
}
