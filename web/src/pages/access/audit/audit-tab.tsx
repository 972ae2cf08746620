/** The audit log, newest first, filtered by the address. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { useKeyNames } from '../../../data/actors.ts';
import { auditQuery, auditRefresh } from '../../../data/audit.ts';
import { useMay } from '../../../data/query/session.ts';
import { allOf } from '../../../data/query/pages-of.ts';
import { useRefreshed } from '../../../data/query/use-refreshed.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Empty } from '../../../ui/layout/empty.tsx';
import { LongList } from '../../../ui/layout/long-list.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { middleRow } from '../../../ui/state/middle-row.ts';
import listCss from '../../../ui/list.module.css';
import css from '../access.module.css';
import { AuditFilters } from './audit-filters.tsx';
import { EntryItem } from './entry-item.tsx';
import { useZone } from '../../../ui/state/zone.ts';
import { toFilter, type AuditSearch } from './filter.ts';
import { accessWords, auditWords, commonWords } from '../../../words.ts';

export function AuditTab() {
  const { tab: _, ...search } = useSearch({ from: '/access' });
  const navigate = useNavigate();
  const [zone] = useZone();
  const filter = toFilter(search, zone);
  const list = useInfiniteQuery(auditQuery(filter));
  useRefreshed(auditRefresh(filter), middleRow);
  const ofTenant = useMay('keys');
  const names = useKeyNames(ofTenant);
  const rows = allOf(list.data);
  const isNarrowed = Object.keys(filter).length > 0;
  const show = (next: AuditSearch): void =>
    void navigate({ to: '/access', search: { tab: 'audit', ...next }, replace: true });
  return (
    <div className={listCss.stack}>
      <p className={css.about}>{ofTenant ? auditWords.ofTenant : auditWords.ofOperator}</p>
      <AuditFilters search={search} onChange={show} />
      {list.isPending && <Skeleton lines={6} height={28} />}
      {list.isError && rows.length === 0 && (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} busy={list.isFetching} />
      )}
      {list.isSuccess && rows.length === 0 && (
        <Empty
          icon={<ScrollText aria-hidden="true" />}
          title={isNarrowed ? auditWords.noMatch : auditWords.empty}
          action={isNarrowed ? <Button onClick={() => show({})}>{auditWords.showAll}</Button> : undefined}
        >
          {isNarrowed && auditWords.noMatchAbout}
        </Empty>
      )}
      {rows.length > 0 && (
        <LongList
          label={accessWords.tabs.audit}
          className={listCss.items}
          items={rows}
          itemKey={({ id }) => id}
          more={list.hasNextPage}
        >
          {(entry, place) => (
            <EntryItem
              key={entry.id}
              place={place}
              entry={entry}
              names={names}
              onFilter={(wanted) => show({ ...search, ...wanted })}
            />
          )}
        </LongList>
      )}
      {list.hasNextPage && (
        <Button className={css.more} busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {commonWords.showMore}
        </Button>
      )}
    </div>
  );
}
