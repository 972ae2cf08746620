/** What the palette finds on the server: contexts that have the text; without one, the most recently active ones. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client } from '../../data/client.ts';
import { keys } from '../../data/query/keys.ts';

const MOST = 8;

export function contextsFoundQuery(text: string) {
  const filter = text === '' ? ({ sort: 'activity' } as const) : { q: text };
  return queryOptions({
    queryKey: keys.palette(text),
    queryFn: async ({ signal }) => (await client.contexts.list({ ...filter, limit: MOST }, { signal }).page()).data,
    placeholderData: keepPreviousData,
    staleTime: 5_000,
  });
}
