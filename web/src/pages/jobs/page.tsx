/** The job list, newest first, filtered by the address, with bulk cancellation and retry. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { jobsQuery, jobsRefresh } from '../../data/query/jobs.ts';
import { allOf } from '../../data/query/pages-of.ts';
import { withParam } from '../../data/search-params.ts';
import { useRefreshed } from '../../data/query/use-refreshed.ts';
import { Button } from '../../ui/forms/button.tsx';
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
import { isByFigure, sortOf } from './columns.ts';
import { LiveSwitch, NewJobs } from './live-bar.tsx';
import { useHeldTop } from './use-held-top.ts';
import { toFilter, type JobSearch } from './filter.ts';
import { JobCards } from './job-cards.tsx';
import { JobFilters } from './job-filters.tsx';
import { JobTable } from './job-table.tsx';
import { NoJobs } from './no-jobs.tsx';
import css from './jobs.module.css';
import { useSelection } from './bulk/use-selection.ts';
import { actOn, type BulkAct } from './bulk/target.ts';
import { ViewsMenu } from './views/views-menu.tsx';

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
  const isLatestFirst = filter.sort === undefined;
  const isHeld = isLatestFirst && !jobs.isPlaceholderData && (!isLive || isPointedAt || isSelecting);
  const list = JSON.stringify(search);
  const { shown: rows, newer, showNewer } = useHeldTop(all, isHeld, list);
  const selection = useSelection(rows, list);
  if (isSelecting !== selection.jobs.length > 0) setSelecting(!isSelecting);
  const [act, setAct] = useState<BulkAct | null>(null);
  useRowKeys((does, id) => {
    const next = actOn(does, isSelecting ? selection.jobs : rows.filter((job) => job.id === id));
    if (next !== null) setAct(next);
    return next !== null;
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
          <ViewsMenu search={search} onOpen={change} />
          {!isNarrow && <ColumnMenu />}
          <Button onClick={() => setAct({ does: 'retry', target: { kind: 'matching', filter } })}>
            {filter.status === undefined ? jobsWords.retryFailed : jobsWords.retryMatching}
          </Button>
          <Button variant="risky" onClick={() => setAct({ does: 'cancel', target: { kind: 'matching', filter } })}>
            {isNarrowed ? jobsWords.cancelMatching : jobsWords.cancelAll}
          </Button>
        </>
      }
    >
      <JobFilters search={search} onChange={change} />
      {isLatestFirst && (all.length > 0 || !isLive) && <LiveSwitch isLive={isLive} onLive={setLive} />}
      {/* It stays while its content changes: only then is it known when the pointer leaves. */}
      <div
        data-row-keys
        onPointerEnter={({ pointerType }) => setPointedAt(pointerType === 'mouse')}
        onPointerLeave={() => setPointedAt(false)}
      >
        <NewJobs count={newer} onShow={showNewer} />
        {jobs.isPending && <Skeleton lines={6} height={28} />}
        {jobs.isError && all.length === 0 && (
          <ErrorState error={jobs.error} onRetry={() => void jobs.refetch()} busy={jobs.isFetching} />
        )}
        {jobs.isSuccess && rows.length === 0 && (
          <NoJobs
            state={newer > 0 ? 'left' : jobs.hasNextPage ? 'notYet' : isNarrowed ? 'noMatch' : 'none'}
            onShowAll={isNarrowed ? () => change({}) : null}
          />
        )}
        {rows.length > 0 && (
          <List
            jobs={rows}
            selection={selection}
            sort={sortOf(search.sort)}
            onSort={(sort) => change(withParam(search, 'sort', sort))}
            more={jobs.hasNextPage}
          />
        )}
      </div>
      {isByFigure(filter.sort) && rows.length > 0 && !jobs.hasNextPage && (
        <p className={css.limit}>{jobsWords.newestOnly}</p>
      )}
      {jobs.hasNextPage && (
        <Button className={css.more} busy={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()}>
          {commonWords.showMore}
        </Button>
      )}
      {selection.jobs.length > 0 && <SelectionBar selection={selection} onAct={setAct} />}
      {act !== null && <Bulk act={act} onClose={() => setAct(null)} onDone={selection.clear} />}
    </Page>
  );
}

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
