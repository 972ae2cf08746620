/** What waits and why, and how fast jobs end. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Stats, StatsHistory } from 'nightshift/client';
import { historyQuery, statsQuery } from '../../data/query/system.ts';
import { Card } from '../../ui/layout/card.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Table } from '../../ui/layout/table.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { RelativeTime, formatDuration } from '../../ui/text/time.tsx';
import { formatCount } from '../../ui/text/tokens.tsx';
import listCss from '../../ui/list.module.css';
import { operationsWords } from '../../words.ts';
import css from './operations.module.css';

const words = operationsWords.queue;

type Reasons = Stats['waits'][number]['reason'];

const SPAN_S = 3_600;
const MINUTES = SPAN_S / 60;
/** Of a span of an hour the API makes buckets of one minute. */
const RECENT_BUCKETS = 5;

export function QueueTab() {
  const stats = useQuery(statsQuery());
  const history = useQuery(historyQuery(SPAN_S));
  if (stats.data === undefined)
    return stats.isError ? (
      <ErrorState error={stats.error} onRetry={() => void stats.refetch()} busy={stats.isFetching} />
    ) : (
      <Skeleton lines={4} height={48} />
    );
  return (
    <div className={listCss.stack}>
      <Figures stats={stats.data} history={history.data ?? null} />
      <Waits waits={stats.data.waits} />
    </div>
  );
}

function Figures({ stats, history }: { stats: Stats; history: StatsHistory | null }) {
  const oldest = stats.waits.find(({ reason }) => reason === 'slot')?.since ?? null;
  const finished = history === null ? null : finishedIn(history);
  const queueMs = history === null ? null : queueTimeOf(history);
  return (
    <dl className={css.tiles}>
      <Tile name={words.oldest} about={words.oldestAbout}>
        {oldest === null ? words.none : <RelativeTime at={oldest} />}
      </Tile>
      <Tile name={words.queueTime} about={words.queueTimeAbout}>
        {queueMs === null ? words.none : formatDuration(queueMs)}
      </Tile>
      <Tile
        name={`${words.finished}, ${words.lastHour.toLowerCase()}`}
        about={finished === null ? '' : rateOf(finished)}
      >
        {finished === null ? words.none : formatCount(finished)}
      </Tile>
    </dl>
  );
}

function Tile({ name, about, children }: { name: string; about: string; children: ReactNode }) {
  return (
    <div className={css.tile}>
      <dt>{name}</dt>
      <dd>
        <span className={css.value}>{children}</span>
        <span className={css.about}>{about}</span>
      </dd>
    </div>
  );
}

function rateOf(finished: number): string {
  const perMinute = Math.round(finished / MINUTES);
  return perMinute === 0 && finished > 0 ? words.finishedRarely : words.finishedAbout(formatCount(perMinute));
}

function finishedIn({ data }: StatsHistory): number {
  return data.flatMap(({ finished }) => Object.values(finished)).reduce((total, count) => total + count, 0);
}

/** Null: no job began in that time. The longest median: that of a bucket with one slow job is seen, too. */
function queueTimeOf({ data }: StatsHistory): number | null {
  const recent = data.flatMap(({ start_ms }) => start_ms?.p50 ?? []).slice(-RECENT_BUCKETS);
  return recent.length === 0 ? null : Math.max(...recent);
}

/** Leads to where they are, or to where something can be done. */
function Reason({ reason }: { reason: Reasons }) {
  const { name } = words.reasons[reason];
  switch (reason) {
    case 'slot':
      return (
        <Link to="/jobs" search={{ status: 'queued' }}>
          {name}
        </Link>
      );
    case 'approval':
    case 'answer':
      return <Link to="/inbox">{name}</Link>;
    case 'unsupported':
      return (
        <Link to="/jobs" search={{ status: 'queued' }}>
          {name}
        </Link>
      );
    case 'throttle':
      return (
        <Link to="/settings" search={{ tab: 'providers' }}>
          {name}
        </Link>
      );
    case 'workers':
    case 'retry':
    case 'timer':
    case 'recovery':
      return (
        <Link to="/jobs" search={{ status: 'waiting' }}>
          {name}
        </Link>
      );
  }
}

function Waits({ waits }: { waits: Stats['waits'] }) {
  return (
    <Card title={words.waits} flush>
      {waits.length === 0 ? (
        <Empty icon={<CircleCheck aria-hidden="true" />} title={words.nothing}>
          {words.nothingAbout}
        </Empty>
      ) : (
        <Table
          label={words.waits}
          flush
          rows={waits}
          rowKey={({ reason }) => reason}
          columns={[
            { name: 'reason', head: words.reason, cell: ({ reason }) => <Reason reason={reason} /> },
            { name: 'contexts', head: words.contexts, kind: 'right', cell: ({ contexts }) => formatCount(contexts) },
            { name: 'since', head: words.since, cell: ({ since }) => <RelativeTime at={since} /> },
            { name: 'about', head: words.about, kind: 'wide', cell: ({ reason }) => words.reasons[reason].about },
          ]}
        />
      )}
    </Card>
  );
}
