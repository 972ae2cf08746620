/** The schedules, newest first. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { CalendarClock, Plus } from 'lucide-react';
import type { Schedule } from 'nightshift/client';
import { useState } from 'react';
import { allOf } from '../../data/query/pages-of.ts';
import { useMay } from '../../data/query/session.ts';
import { schedulesQuery, schedulesRefresh } from './queries.ts';
import { useRefreshed } from '../../data/query/use-refreshed.ts';
import { Button } from '../../ui/forms/button.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { LongList } from '../../ui/layout/long-list.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { middleRow } from '../../ui/state/middle-row.ts';
import { DeleteSchedule } from './delete-schedule.tsx';
import { RunsDialog } from './runs-dialog.tsx';
import { ScheduleForm } from './schedule-form.tsx';
import { ScheduleItem } from './schedule-item.tsx';
import { commonWords, placeWords, schedulesWords } from '../../words.ts';
import css from './schedules.module.css';

export function SchedulesPage() {
  const schedules = useInfiniteQuery(schedulesQuery());
  useRefreshed(schedulesRefresh(), middleRow);
  const rows = allOf(schedules.data);
  const [shown, setShown] = useState<Schedule | null>(null);
  const [edited, setEdited] = useState<Schedule | 'new' | null>(null);
  const mayConfigure = useMay('configure');
  const [deleted, setDeleted] = useState<Schedule | null>(null);
  return (
    <Page
      title={placeWords.schedules}
      about={schedulesWords.about}
      actions={
        mayConfigure && (
          <Button variant="primary" onClick={() => setEdited('new')}>
            <Plus aria-hidden="true" /> {schedulesWords.new}
          </Button>
        )
      }
    >
      {schedules.isPending && <Skeleton lines={4} height={64} />}
      {schedules.isError && rows.length === 0 && (
        <ErrorState error={schedules.error} onRetry={() => void schedules.refetch()} busy={schedules.isFetching} />
      )}
      {schedules.isSuccess && rows.length === 0 && (
        <Empty icon={<CalendarClock aria-hidden="true" />} title={schedulesWords.empty}>
          {schedulesWords.emptyAbout}
        </Empty>
      )}
      {rows.length > 0 && (
        <LongList
          label={placeWords.schedules}
          className={css.items}
          items={rows}
          itemKey={({ id }) => id}
          more={schedules.hasNextPage}
        >
          {(schedule, place) => (
            <ScheduleItem
              key={schedule.id}
              place={place}
              schedule={schedule}
              onEdit={() => setEdited(schedule)}
              onRuns={() => setShown(schedule)}
              onDelete={() => setDeleted(schedule)}
            />
          )}
        </LongList>
      )}
      {schedules.hasNextPage && (
        <Button className={css.more} busy={schedules.isFetchingNextPage} onClick={() => void schedules.fetchNextPage()}>
          {commonWords.showMore}
        </Button>
      )}
      {edited !== null && <ScheduleForm known={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />}
      <RunsDialog schedule={shown} onClose={() => setShown(null)} />
      {deleted !== null && <DeleteSchedule schedule={deleted} onClose={() => setDeleted(null)} />}
    </Page>
  );
}
