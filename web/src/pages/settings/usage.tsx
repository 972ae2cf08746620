/** The limits of the tenant, and what it uses of each. */
import { useQuery } from '@tanstack/react-query';
import { Infinity as NoLimit } from 'lucide-react';
import { usageQuery } from '../../data/usage.ts';
import { Empty } from '../../ui/layout/empty.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import listCss from '../../ui/list.module.css';
import { UsageList, hasLimits } from '../../usage/usage-list.tsx';
import css from './settings.module.css';

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
          What this tenant uses of its limits. Requests beyond a limit are refused with the code{' '}
          <code>quota_exceeded</code>; contexts beyond the slots wait. The operator of this installation sets limits.
        </p>
      ) : (
        <Empty icon={<NoLimit aria-hidden="true" />} title="This tenant has no limits">
          It may use all that the installation has, and no request is refused because of what it uses. The operator of
          this installation can set limits, for this tenant or for all.
        </Empty>
      )}
      <UsageList usage={usage.data} />
    </div>
  );
}
