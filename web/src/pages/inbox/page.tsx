/** Everything that waits for a person, newest first, answered in place. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CircleCheckBig } from 'lucide-react';
import { useState } from 'react';
import type { InboxItem } from 'nightshift/client';
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
import { useArrowKeys } from './use-arrow-keys.ts';
import { useVanished } from './use-vanished.ts';

const SHOWN_AT_ONCE = 25;

export function InboxPage() {
  const waiting = useQuery(approvalsQuery());
  const all = waiting.data?.data.toReversed();
  useVanished(all);
  return (
    <Page
      title="Inbox"
      about="Everything that waits for a person, newest first. It waits as long as it takes, or as its tool says."
    >
      {waiting.isPending && <Skeleton lines={3} height={120} />}
      {waiting.isError && all === undefined && (
        <ErrorState error={waiting.error} onRetry={() => void waiting.refetch()} busy={waiting.isFetching} />
      )}
      {all !== undefined && all.length === 0 && <NothingWaits />}
      {all !== undefined && all.length > 0 && (
        <Waiting all={all} isCut={waiting.data?.next_cursor !== null} />
      )}
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
function Waiting({ all, isCut }: { all: readonly InboxItem[]; isCut: boolean }) {
  const { kind } = useSearch({ from: '/inbox' });
  const navigate = useNavigate();
  const chosen = KINDS.find(({ name }) => name === kind)?.name ?? 'all';
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  const arrowKeys = useArrowKeys();
  const rows = chosen === 'all' ? all : all.filter((item) => kindOf(item) === chosen);
  const count = (of: Kind): number => all.filter((item) => kindOf(item) === of).length;
  return (
    <>
      <Segments
        label="What is shown"
        value={chosen}
        segments={[
          { value: 'all' as const, label: 'All', count: all.length },
          ...KINDS.map(({ name, plural }) => ({ value: name, label: plural, count: count(name) })),
        ]}
        onChange={(next) =>
          void navigate({ to: '/inbox', search: next === 'all' ? {} : { kind: next }, replace: true })
        }
      />
      {rows.length === 0 && <Empty title="Nothing of this kind waits for you" />}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- arrow keys only go from one to the next */}
      <ul className={css.list} aria-label="Waiting" onKeyDown={arrowKeys}>
        {rows.slice(0, most).map((item) => (
          <li key={item.tool_call_id}>
            <InboxCard item={item} />
          </li>
        ))}
      </ul>
      {rows.length > most && (
        <Button className={css.more} onClick={() => setMost(most + SHOWN_AT_ONCE)}>
          Show more
        </Button>
      )}
      {isCut && (
        <p className={css.note}>
          The {all.length} that wait longest are shown; others follow as these are answered.
        </p>
      )}
    </>
  );
}
