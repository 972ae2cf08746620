/** The limits of the tenant, and what it uses of each. */
import { useQuery } from '@tanstack/react-query';
import { Infinity as NoLimit } from 'lucide-react';
import { usageQuery } from '../../data/usage.ts';
import { Empty } from '../../ui/layout/empty.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import listCss from '../../ui/list.module.css';
import { UsageList, hasLimits } from '../../usage/usage-list.tsx';
import { settingsWords } from '../../words.ts';
import { Sentence } from '../../ui/text/sentence.tsx';
import css from './settings.module.css';

const words = settingsWords.usage;

export function UsageTab() {
  const usage = useQuery(usageQuery(null));
  if (usage.data === undefined)
    return usage.isError ? (
      <ErrorState error={usage.error} onRetry={() => void usage.refetch()} busy={usage.isFetching} />
    ) : (
      <Skeleton lines={6} height={48} />
    );
  return (
    <div className={listCss.stack}>
      {hasLimits(usage.data) ? (
        <p className={css.about}>
          <Sentence text={words.about} gaps={{ code: <code>quota_exceeded</code> }} />
        </p>
      ) : (
        <Empty icon={<NoLimit aria-hidden="true" />} title={words.none}>
          {words.noneAbout}
        </Empty>
      )}
      <UsageList usage={usage.data} />
    </div>
  );
}
