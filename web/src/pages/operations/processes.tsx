/** The worker processes of the installation: those that are alive, with what the operator asks of them, and those that ended. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Server } from 'lucide-react';
import { useState } from 'react';
import type { WorkerProcess } from 'nightshift/client';
import { beginsRuns, isChanging, processesQuery } from '../../data/processes.ts';
import { allOf } from '../../data/query/pages-of.ts';
import { Button } from '../../ui/forms/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Table, type Column } from '../../ui/layout/table.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import listCss from '../../ui/list.module.css';
import { Badge, type Tone } from '../../ui/text/badge.tsx';
import { Sentence } from '../../ui/text/sentence.tsx';
import { Duration, RelativeTime } from '../../ui/text/time.tsx';
import { DrainProcess } from './drain-process.tsx';
import { ProcessActions } from './process-actions.tsx';
import { commonWords, operationsWords } from '../../words.ts';
import css from './operations.module.css';

const words = operationsWords.processes;

const TONES: Readonly<Record<WorkerProcess['status'], Tone>> = {
  running: 'green',
  paused: 'amber',
  draining: 'blue',
  stopped: 'neutral',
  lost: 'red',
};

const HOST: Column<WorkerProcess> = {
  name: 'host',
  head: words.host,
  kind: 'wide',
  cell: ({ host, pid }) => words.hostOf(host, pid),
};
const STATUS: Column<WorkerProcess> = {
  name: 'status',
  head: words.status,
  cell: (process) => <Status process={process} />,
};
const VERSION: Column<WorkerProcess> = { name: 'version', head: words.version, cell: ({ version }) => version };

export function ProcessesTab() {
  return (
    <div className={listCss.stack}>
      <Live />
      <Ended />
    </div>
  );
}

function Live() {
  const list = useInfiniteQuery(processesQuery(true));
  const rows = allOf(list.data);
  const [drained, setDrained] = useState<WorkerProcess | null>(null);
  const others = rows.filter(({ id }) => id !== drained?.id).filter(beginsRuns);
  return (
    <Card title={words.live} flush>
      {list.isPending && <Skeleton lines={2} height={24} />}
      {list.isError && list.data === undefined && (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} busy={list.isFetching} />
      )}
      {list.isSuccess && rows.length === 0 && (
        <Empty icon={<Server aria-hidden="true" />} title={words.none}>
          <Sentence text={words.noneAbout} gaps={{ command: <code>nightshift worker</code> }} />
        </Empty>
      )}
      {rows.length > 0 && (
        <Table
          label={words.live}
          flush
          rows={rows}
          rowKey={({ id }) => id}
          columns={[
            HOST,
            STATUS,
            {
              name: 'running',
              head: words.contexts,
              kind: 'right',
              cell: ({ running, concurrency }) => words.contextsOf(running, concurrency),
            },
            {
              name: 'serves',
              head: words.serves,
              cell: ({ providers, mcp_servers: servers }) => [...providers, ...servers].join(', '),
            },
            VERSION,
            { name: 'since', head: words.started, cell: ({ started_at }) => <RelativeTime at={started_at} /> },
            {
              name: 'heartbeat',
              head: words.heartbeat,
              cell: ({ heartbeat_at }) => <RelativeTime at={heartbeat_at} />,
            },
            {
              name: 'actions',
              head: words.actions,
              cell: (process) => (
                <ProcessActions
                  process={process}
                  isLast={!rows.some((one) => one.id !== process.id && beginsRuns(one))}
                  onDrain={() => setDrained(process)}
                />
              ),
            },
          ]}
        />
      )}
      <More list={list} />
      {drained !== null && (
        <DrainProcess process={drained} isLast={others.length === 0} onClose={() => setDrained(null)} />
      )}
    </Card>
  );
}

function Ended() {
  const list = useInfiniteQuery(processesQuery(false));
  const rows = allOf(list.data);
  return (
    <Card title={words.ended} flush>
      {list.isPending && <Skeleton lines={2} height={24} />}
      {list.isError && list.data === undefined && (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} busy={list.isFetching} />
      )}
      {list.isSuccess && rows.length === 0 && <p className={css.padded}>{words.noneEnded}</p>}
      {rows.length > 0 && (
        <Table
          label={words.ended}
          flush
          rows={rows}
          rowKey={({ id }) => id}
          columns={[
            HOST,
            STATUS,
            VERSION,
            { name: 'since', head: words.started, cell: ({ started_at }) => <RelativeTime at={started_at} /> },
            {
              name: 'end',
              head: words.end,
              cell: ({ ended_at }) => ended_at !== null && <RelativeTime at={ended_at} />,
            },
            {
              name: 'ran',
              head: words.ran,
              kind: 'right',
              cell: ({ started_at, ended_at }) => <Duration from={started_at} to={ended_at} />,
            },
          ]}
        />
      )}
      <More list={list} />
    </Card>
  );
}

function More({
  list,
}: {
  list: Pick<ReturnType<typeof useInfiniteQuery>, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;
}) {
  if (!list.hasNextPage) return null;
  return (
    <Button className={css.more} busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
      {commonWords.showMore}
    </Button>
  );
}

function Status({ process }: { process: WorkerProcess }) {
  const { status, requested_status: requested } = process;
  return (
    <>
      <Badge tone={TONES[status]} dot={isChanging(process) ? 'live' : 'still'}>
        {words.statuses[status]}
      </Badge>
      {isChanging(process) && status !== 'draining' && (
        <span className={css.soon}>{words.soon(words.statuses[requested])}</span>
      )}
    </>
  );
}
