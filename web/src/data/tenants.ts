/** Tenants, for the operator: sorted by name. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './query/keys.ts';
import { at, byCursor } from './query/pages-of.ts';

const EVERY_MS = 30_000;
/** While a tenant is being deleted, whose progress is shown. */
const DELETING_MS = 2_000;

export function tenantsQuery() {
  return infiniteQueryOptions({
    queryKey: keys.tenants,
    queryFn: ({ pageParam, signal }) => client.tenants.list({ ...at(pageParam), limit: 100 }, { signal }).page(),
    ...byCursor,
    refetchInterval: ({ state }) => {
      const isDeleting =
        state.data?.pages.some(({ data }) => data.some(({ status }) => status === 'deleting')) ?? false;
      return isDeleting ? DELETING_MS : EVERY_MS;
    },
  });
}
