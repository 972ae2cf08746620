import { useQuery } from '@tanstack/react-query';
import { usageQuery } from '../../data/usage.ts';
import { Dialog } from '../../ui/layout/dialog.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { UsageList } from '../../usage/usage-list.tsx';
import { tenantsWords } from '../../words.ts';

/** The limits of a tenant, those of the config file too, and what it uses of each. */
export function UsageDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const usage = useQuery(usageQuery(name));
  return (
    <Dialog open onClose={onClose} wide title={tenantsWords.item.usageOf(name)} description={tenantsWords.usage.about}>
      {usage.data !== undefined && <UsageList usage={usage.data} />}
      {usage.data === undefined &&
        (usage.isError ? (
          <ErrorState error={usage.error} onRetry={() => void usage.refetch()} busy={usage.isFetching} />
        ) : (
          <Skeleton lines={6} height={48} />
        ))}
    </Dialog>
  );
}
