/**
 * Keeps a long list up to date without reading it whole: each time one page is read again, the page that the user looks
 * at. The others are read again when the user goes there, when the tab is shown again, and after changes that this tab makes.
 */
import { useQuery, useQueryClient, type QueryKey } from '@tanstack/react-query';
import { everyMs } from '../live/changes.ts';
import { keys } from './keys.ts';
import { cursorOfPageWith, withFreshPage, type Listed, type Pages } from './fresh-page.ts';

type List<One extends { id: string }> = {
  queryKey: QueryKey;
  readPage: (cursor: string | undefined, signal: AbortSignal) => Promise<Listed<One>>;
  /** How often it is polled while changes do not arrive, in milliseconds. */
  pollMs: number;
  /** Puts the first page into a list that is not ordered by id; then no other page is read again. */
  withFreshTop?: (known: Pages<One>, fresh: Listed<One>) => Pages<One> | null;
};

/** `shownId`: the id of the item that the user looks at; null: the first page is read. */
export function useRefreshed<One extends { id: string }>(
  { queryKey, readPage, pollMs, withFreshTop }: List<One>,
  shownId: () => string | null,
): void {
  const cache = useQueryClient();
  useQuery({
    queryKey: keys.refresh(queryKey),
    queryFn: async ({ signal }) => {
      const known = cache.getQueryData<Pages<One>>(queryKey);
      if (known === undefined) return null;
      const cursor = withFreshTop === undefined ? cursorOfPageWith(known, shownId()) : undefined;
      const fresh = await readPage(cursor, signal);
      const now = cache.getQueryData<Pages<One>>(queryKey);
      const put = withFreshTop ?? ((list) => withFreshPage(list, cursor, fresh));
      const renewed = now === undefined ? null : put(now, fresh);
      if (renewed === null) await cache.invalidateQueries({ queryKey, exact: true });
      else cache.setQueryData<Pages<One>>(queryKey, renewed);
      return null;
    },
    // The list itself has just been read.
    initialData: null,
    staleTime: Infinity,
    refetchInterval: () => everyMs(pollMs),
  });
}
