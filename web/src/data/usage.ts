/** The limits of a tenant, and what it uses of each. */
import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './query/keys.ts';

/** `tenant`: for the operator; null: the tenant of this session. Not read while the page is hidden. */
export function usageQuery(tenant: string | null) {
  return queryOptions({
    queryKey: keys.usage(tenant),
    queryFn: ({ signal }) => client.usage(tenant === null ? {} : { tenant }, { signal }),
    refetchInterval: 15_000,
  });
}
