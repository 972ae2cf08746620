/** Cursor pagination with `useInfiniteQuery`. */
import type { InfiniteData } from '@tanstack/react-query';
import type { Listed } from './fresh-page.ts';

export const byCursor = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (last: { next_cursor: string | null }): string | undefined => last.next_cursor ?? undefined,
};

/** The `cursor` parameter of a query; empty for the first page. */
export function at(cursor: string | undefined): { cursor?: string } {
  return cursor === undefined ? {} : { cursor };
}

export function allOf<Item>(listed: InfiniteData<Listed<Item>> | undefined): Item[] {
  return listed?.pages.flatMap((page) => page.data) ?? [];
}
