/** Live worker processes, shown to the operator. */
import { useQuery } from '@tanstack/react-query';
import { Server } from 'lucide-react';
import { systemQuery } from '../../data/system.ts';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { RelativeTime } from '../../ui/time.tsx';

export function Processes() {
  const system = useQuery({ ...systemQuery(), refetchInterval: 5_000 });
  const rows = system.data?.processes;
  return (
    <Card title="Worker processes" flush>
      {system.isPending && <Skeleton lines={2} height={24} />}
      {system.isError && rows === undefined && (
        <ErrorState error={system.error} onRetry={() => void system.refetch()} busy={system.isFetching} />
      )}
      {rows === null && (
        <Empty icon={<Server aria-hidden="true" />} title="Worker processes are shown to the operator only">
          With the admin key: <code>GET /api/system</code> and <code>/metrics</code>.
        </Empty>
      )}
      {rows?.length === 0 && (
        <Empty icon={<Server aria-hidden="true" />} title="No worker process lives">
          Jobs stay queued until one is started: <code>nightshift worker</code>.
        </Empty>
      )}
      {rows && rows.length > 0 && (
        <Table
          label="Worker processes"
          flush
          rows={rows}
          rowKey={({ id }) => id}
          columns={[
            { name: 'host', head: 'Where', kind: 'wide', cell: ({ host, pid }) => `${host}, process ${pid}` },
            {
              name: 'running',
              head: 'Contexts at work',
              kind: 'right',
              cell: ({ running, concurrency }) => `${running ?? '–'} of ${concurrency ?? '–'}`,
            },
            { name: 'version', head: 'Version', cell: ({ version }) => version },
            { name: 'since', head: 'Started', cell: ({ started_at }) => <RelativeTime at={started_at} /> },
            {
              name: 'beat',
              head: 'Last beat',
              cell: ({ heartbeat_at }) => <RelativeTime at={heartbeat_at} />,
            },
          ]}
        />
      )}
    </Card>
  );
}
