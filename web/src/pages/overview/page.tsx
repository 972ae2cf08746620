/** Overview: current counts, and statistics over time. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { historyQuery, statsQuery } from '../../data/query/system.ts';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { Segments } from '../../ui/forms/filters.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Now } from './now.tsx';
import { Plots } from './plots.tsx';
import { SPANS, spanNamed } from './spans.ts';
import { overviewWords, placeWords } from '../../words.ts';

export function OverviewPage() {
  const { span } = useSearch({ from: '/overview' });
  const navigate = useNavigate();
  const chosen = spanNamed(span);
  const stats = useQuery(statsQuery());
  const history = useQuery(historyQuery(chosen.seconds));
  return (
    <Page
      title={placeWords.overview}
      actions={
        <Segments
          label={overviewWords.range}
          value={chosen.value}
          segments={SPANS}
          onChange={(value) => void navigate({ to: '/overview', search: { span: value }, replace: true })}
        />
      }
    >
      {stats.isPending && <Skeleton lines={1} height={84} />}
      {stats.isError && stats.data === undefined && (
        <ErrorState error={stats.error} onRetry={() => void stats.refetch()} busy={stats.isFetching} />
      )}
      {stats.data !== undefined && <Now stats={stats.data} />}
      {history.isPending && <Skeleton lines={2} height={240} />}
      {history.isError && history.data === undefined && (
        <ErrorState error={history.error} onRetry={() => void history.refetch()} busy={history.isFetching} />
      )}
      {history.data !== undefined && <Plots history={history.data} />}
    </Page>
  );
}
