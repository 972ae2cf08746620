/** Tool calls that wait for a person, newest first, with their answer forms. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CircleCheckBig } from 'lucide-react';
import { useState } from 'react';
import { useCardKeys } from '../../answers/card-keys.ts';
import { approvalsQuery } from '../../data/query/system.ts';
import { Button } from '../../ui/forms/button.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { Segments } from '../../ui/forms/filters.tsx';
import { LongList } from '../../ui/layout/long-list.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { commonWords, inboxWords, placeWords, type InboxKind } from '../../words.ts';
import css from './inbox.module.css';
import { InboxCard } from './inbox-card.tsx';
import { KINDS, kindOf } from './kinds.ts';
import { firstWaiting, keyOf, type Row } from './rows.ts';
import { useRows } from './use-rows.ts';

const SHOWN_AT_ONCE = 25;

export function InboxPage() {
  const waiting = useQuery(approvalsQuery());
  const [held, setHeld] = useState<string | null>(null);
  const rows = useRows(waiting.data?.data, held);
  return (
    <Page title={placeWords.inbox} about={inboxWords.about}>
      {waiting.isPending && <Skeleton lines={3} height={120} />}
      {waiting.isError && waiting.data === undefined && (
        <ErrorState error={waiting.error} onRetry={() => void waiting.refetch()} busy={waiting.isFetching} />
      )}
      {waiting.data !== undefined && rows.length === 0 && <NothingWaits />}
      {rows.length > 0 && <Rows all={rows} held={held} onHold={setHeld} isCut={waiting.data?.next_cursor !== null} />}
    </Page>
  );
}

function NothingWaits() {
  return (
    <Empty icon={<CircleCheckBig aria-hidden="true" />} title={inboxWords.empty}>
      {inboxWords.emptyAbout}
    </Empty>
  );
}

/** `held`: see rows.ts. `isCut`: the API has more items than the fetched page. */
function Rows({
  all,
  held,
  onHold,
  isCut,
}: {
  all: readonly Row[];
  held: string | null;
  onHold: (key: string) => void;
  isCut: boolean;
}) {
  const { kind } = useSearch({ from: '/inbox' });
  const navigate = useNavigate();
  const chosen = KINDS.find((name) => name === kind) ?? 'all';
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  useCardKeys();
  const waiting = all.filter(({ isOver }) => !isOver);
  const rows = chosen === 'all' ? all : all.filter(({ item }) => kindOf(item) === chosen);
  const shown = firstWaiting(rows, most, held);
  const count = (of: InboxKind): number => waiting.filter(({ item }) => kindOf(item) === of).length;
  return (
    <>
      <Segments
        label={inboxWords.filter}
        value={chosen}
        segments={[
          { value: 'all' as const, label: inboxWords.all, count: waiting.length },
          ...KINDS.map((name) => ({ value: name, label: inboxWords.many[name], count: count(name) })),
        ]}
        onChange={(next) =>
          void navigate({ to: '/inbox', search: next === 'all' ? {} : { kind: next }, replace: true })
        }
      />
      <LongList
        label={inboxWords.list}
        className={css.list}
        hidden={shown.length === 0}
        items={shown}
        itemKey={({ item }) => keyOf(item)}
      >
        {({ item, isOver }, place) => (
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- it only remembers where the focus is
          <li key={keyOf(item)} {...place} onFocus={() => onHold(keyOf(item))}>
            <InboxCard item={item} isOver={isOver} />
          </li>
        )}
      </LongList>
      {rows.every(({ isOver }) => isOver) &&
        (chosen === 'all' ? <NothingWaits /> : <Empty title={inboxWords.noneOfKind} />)}
      {rows.length > shown.length && (
        <Button
          className={css.more}
          onClick={() => setMost(shown.filter(({ isOver }) => !isOver).length + SHOWN_AT_ONCE)}
        >
          {commonWords.showMore}
        </Button>
      )}
      {isCut && <p className={css.note}>{inboxWords.cut(waiting.length)}</p>}
    </>
  );
}
