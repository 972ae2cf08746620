/** The job list, newest first, filtered by the address, with bulk cancellation and retry. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ListChecks } from 'lucide-react';
import { isFinished } from 'nightshift/client';
import { useState } from 'react';
import { jobsQuery, jobsRefresh } from '../../data/query/jobs.ts';
import { allOf } from '../../data/query/pages-of.ts';
import type { JobTarget } from '../../data/retry-jobs.ts';
import { withParam } from '../../data/search-params.ts';
import { useRefreshed } from '../../data/query/use-refreshed.ts';
import { Button } from '../../ui/forms/button.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { useIsNarrow } from '../../ui/layout/narrow.ts';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { useNow } from '../../ui/state/clock.ts';
import { useZone } from '../../ui/state/zone.ts';
import { middleRow } from '../../ui/state/middle-row.ts';
import { commonWords, jobsWords, placeWords } from '../../words.ts';
import { CancelDialog } from './bulk/cancel-dialog.tsx';
import { RetryDialog } from './bulk/retry-dialog.tsx';
import { useRowKeys } from './row-keys.ts';
import { SelectionBar } from './bulk/selection-bar.tsx';
import { ColumnMenu } from './column-menu.tsx';
import { sortOf } from './columns.ts';
import { LiveSwitch, NewJobs } from './live-bar.tsx';
import { useHeldTop } from './use-held-top.ts';
import { toFilter, type JobSearch } from './filter.ts';
import { JobCards } from './job-cards.tsx';
import { JobFilters } from './job-filters.tsx';
import { JobTable } from './job-table.tsx';
import css from './jobs.module.css';
import { useSelection } from './bulk/use-selection.ts';
import { ViewsMenu } from './views-menu.tsx';

export function JobsPage() {
  const search = useSearch({ from: '/jobs' });
  const navigate = useNavigate();
  const [zone] = useZone();
  const now = useNow(60_000);
  const filter = toFilter(search, zone, now);
  const jobs = useInfiniteQuery(jobsQuery(filter));
  useRefreshed(jobsRefresh(filter), middleRow);
  const all = allOf(jobs.data);
  const [isLive, setLive] = useState(true);
  const [isPointedAt, setPointedAt] = useState(false);
  const [isSelecting, setSelecting] = useState(false);
  // Only the default order has new jobs at the top.
  const isHeld = filter.sort === undefined && (!isLive || isPointedAt || isSelecting);
  const { shown: rows, newer, showNewer } = useHeldTop(all, isHeld, JSON.stringify(search));
  const selection = useSelection(rows);
  if (isSelecting !== selection.jobs.length > 0) setSelecting(!isSelecting);
  const [act, setAct] = useState<BulkAct | null>(null);
  useRowKeys(jobsWords.selection.region, (does, id) => {
    const hasEnded = rows.some((job) => job.id === id && isFinished(job));
    if (does === 'retry' || !hasEnded) setAct({ does, target: { kind: 'selected', ids: [id] } });
  });
  const isNarrow = useIsNarrow();
  const List = isNarrow ? JobCards : JobTable;
  const isNarrowed = Object.keys(search).some((name) => name !== 'sort');
  const change = (next: JobSearch): void => void navigate({ to: '/jobs', search: next, replace: true });
  return (
    <Page
      title={placeWords.jobs}
      about={jobsWords.about}
      actions={
        <>
          <ViewsMenu
            search={search}
            onOpen={(next) => {
              selection.clear();
              change(next);
            }}
          />
          {!isNarrow && <ColumnMenu />}
          <Button onClick={() => setAct({ does: 'retry', target: { kind: 'matching', filter } })}>
            {isNarrowed ? jobsWords.retryMatching : jobsWords.retryAll}
          </Button>
          <Button variant="risky" onClick={() => setAct({ does: 'cancel', target: { kind: 'matching', filter } })}>
            {isNarrowed ? jobsWords.cancelMatching : jobsWords.cancelAll}
          </Button>
        </>
      }
    >
      <JobFilters
        search={search}
        onChange={(next) => {
          selection.clear();
          change(next);
        }}
      />
      {jobs.isPending && <Skeleton lines={6} height={28} />}
      {jobs.isError && rows.length === 0 && (
        <ErrorState error={jobs.error} onRetry={() => void jobs.refetch()} busy={jobs.isFetching} />
      )}
      {jobs.isSuccess && rows.length === 0 && (
        <Empty
          icon={<ListChecks aria-hidden="true" />}
          title={jobs.hasNextPage ? jobsWords.noMatchYet : isNarrowed ? jobsWords.noMatch : jobsWords.none}
          action={
            isNarrowed ? (
              <Button onClick={() => void navigate({ to: '/jobs', search: {} })}>{jobsWords.showAll}</Button>
            ) : undefined
          }
        >
          {jobs.hasNextPage ? jobsWords.noMatchYetAbout : isNarrowed ? jobsWords.noMatchAbout : jobsWords.noneAbout}
        </Empty>
      )}
      {rows.length > 0 && (
        <>
          {filter.sort === undefined && <LiveSwitch isLive={isLive} onLive={setLive} />}
          <div
            onPointerEnter={({ pointerType }) => setPointedAt(pointerType === 'mouse')}
            onPointerLeave={() => setPointedAt(false)}
          >
            <NewJobs count={newer} onShow={showNewer} />
            <List
              jobs={rows}
              selection={selection}
              sort={sortOf(search.sort)}
              onSort={(sort) => change(withParam(search, 'sort', sort))}
            />
          </div>
        </>
      )}
      {jobs.hasNextPage && (
        <Button className={css.more} busy={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()}>
          {commonWords.showMore}
        </Button>
      )}
      {selection.jobs.length > 0 && (
        <SelectionBar
          selection={selection}
          onAct={(does, ids) => setAct({ does, target: { kind: 'selected', ids } })}
        />
      )}
      {act !== null && <Bulk act={act} onClose={() => setAct(null)} onDone={selection.clear} />}
    </Page>
  );
}

type BulkAct = { does: 'cancel' | 'retry'; target: JobTarget };

/** The dialog of an act on several jobs. */
function Bulk({ act: { does, target }, onClose, onDone }: { act: BulkAct; onClose: () => void; onDone: () => void }) {
  const Asking = does === 'cancel' ? CancelDialog : RetryDialog;
  return (
    <Asking
      target={target}
      onClose={onClose}
      onDone={() => {
        onClose();
        onDone();
      }}
    />
  );
}
