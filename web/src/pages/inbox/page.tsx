/** Everything that waits for a person, newest first, answered in place. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CircleCheckBig } from 'lucide-react';
import { useState } from 'react';
import { approvalsQuery } from '../../data/system.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Segments } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import css from './inbox.module.css';
import { InboxCard } from './inbox-card.tsx';
import { KINDS, kindOf } from './kinds.ts';
import type { Kind } from './kinds.ts';
import { keyOf, useRows } from './rows.ts';
import type { Row } from './rows.ts';
import { useArrowKeys } from './use-arrow-keys.ts';

const SHOWN_AT_ONCE = 25;

export function InboxPage() {
  const waiting = useQuery(approvalsQuery());
  const rows = useRows(waiting.data?.data);
  return (
    <Page
      title="Inbox"
      about="Everything that waits for a person, newest first. It waits as long as it takes, or as its tool says."
    >
      {waiting.isPending && <Skeleton lines={3} height={120} />}
      {waiting.isError && waiting.data === undefined && (
        <ErrorState error={waiting.error} onRetry={() => void waiting.refetch()} busy={waiting.isFetching} />
      )}
      {waiting.data !== undefined && rows.length === 0 && <NothingWaits />}
      {rows.length > 0 && <Rows all={rows} isCut={waiting.data?.next_cursor !== null} />}
    </Page>
  );
}

function NothingWaits() {
  return (
    <Empty icon={<CircleCheckBig aria-hidden="true" />} title="Nothing waits for you">
      Approvals, questions of workers, results of a client’s tools and calls whose outcome nobody knows come
      here.
    </Empty>
  );
}

/** `isCut`: there is more than the API told at once. */
function Rows({ all, isCut }: { all: readonly Row[]; isCut: boolean }) {
  const { kind } = useSearch({ from: '/inbox' });
  const navigate = useNavigate();
  const chosen = KINDS.find(({ name }) => name === kind)?.name ?? 'all';
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  const arrowKeys = useArrowKeys();
  const waiting = all.filter(({ isOver }) => !isOver);
  const rows = chosen === 'all' ? all : all.filter(({ item }) => kindOf(item) === chosen);
  const shown = firstWaiting(rows, most);
  const count = (of: Kind): number => waiting.filter(({ item }) => kindOf(item) === of).length;
  return (
    <>
      <Segments
        label="What is shown"
        value={chosen}
        segments={[
          { value: 'all' as const, label: 'All', count: waiting.length },
          ...KINDS.map(({ name, plural }) => ({ value: name, label: plural, count: count(name) })),
        ]}
        onChange={(next) =>
          void navigate({ to: '/inbox', search: next === 'all' ? {} : { kind: next }, replace: true })
        }
      />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- arrow keys only go from one to the next */}
      <ul className={css.list} aria-label="Waiting" onKeyDown={arrowKeys} hidden={shown.length === 0}>
        {shown.map(({ item, isOver }) => (
          <li key={keyOf(item)}>
            <InboxCard item={item} isOver={isOver} />
          </li>
        ))}
      </ul>
      {rows.every(({ isOver }) => isOver) &&
        (chosen === 'all' ? <NothingWaits /> : <Empty title="Nothing of this kind waits for you" />)}
      {rows.length > shown.length && (
        <Button className={css.more} onClick={() => setMost(most + SHOWN_AT_ONCE)}>
          Show more
        </Button>
      )}
      {isCut && (
        <p className={css.note}>
          The {waiting.length} that wait longest are shown; others follow as these are answered.
        </p>
      )}
    </>
  );
}

/** As many that wait as are asked for, and what is over among them. */
function firstWaiting(rows: readonly Row[], most: number): readonly Row[] {
  let waiting = 0;
  const end = rows.findIndex(({ isOver }) => {
    if (!isOver) waiting += 1;
    return waiting > most;
  });
  return end === -1 ? rows : rows.slice(0, end);
}
