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
import { overviewWords } from '../../words.ts';
import { Sentence } from '../../ui/text/sentence.tsx';

const words = overviewWords.processes;

export function Processes() {
  const system = useQuery({ ...systemQuery(), refetchInterval: 15_000 });
  const rows = system.data?.processes;
  return (
    <Card title={words.title} flush>
      {system.isPending && <Skeleton lines={2} height={24} />}
      {system.isError && rows === undefined && (
        <ErrorState error={system.error} onRetry={() => void system.refetch()} busy={system.isFetching} />
      )}
      {rows === null && (
        <Empty icon={<Server aria-hidden="true" />} title={words.hidden}>
          <Sentence
            text={words.hiddenAbout}
            gaps={{ route: <code>GET /api/system</code>, metrics: <code>/metrics</code> }}
          />
        </Empty>
      )}
      {rows?.length === 0 && (
        <Empty icon={<Server aria-hidden="true" />} title={words.none}>
          <Sentence text={words.noneAbout} gaps={{ command: <code>nightshift worker</code> }} />
        </Empty>
      )}
      {rows && rows.length > 0 && (
        <Table
          label={words.title}
          flush
          rows={rows}
          rowKey={({ id }) => id}
          columns={[
            { name: 'host', head: words.host, kind: 'wide', cell: ({ host, pid }) => words.hostOf(host, pid) },
            {
              name: 'running',
              head: words.contexts,
              kind: 'right',
              cell: ({ running, concurrency }) => words.contextsOf(running, concurrency),
            },
            { name: 'version', head: words.version, cell: ({ version }) => version },
            { name: 'since', head: words.started, cell: ({ started_at }) => <RelativeTime at={started_at} /> },
            {
              name: 'beat',
              head: words.heartbeat,
              cell: ({ heartbeat_at }) => <RelativeTime at={heartbeat_at} />,
            },
          ]}
        />
      )}
    </Card>
  );
}
