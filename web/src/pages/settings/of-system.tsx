/** Loads the system information and renders `children` with it. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { System } from 'nightshift/client';
import { systemQuery } from '../../data/query/system.ts';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';

export function OfSystem({ children }: { children: (system: System) => ReactNode }) {
  const system = useQuery({ ...systemQuery(), refetchInterval: 15_000 });
  if (system.data !== undefined) return children(system.data);
  return system.isError ? (
    <ErrorState error={system.error} onRetry={() => void system.refetch()} busy={system.isFetching} />
  ) : (
    <Skeleton lines={5} height={24} />
  );
}
