// Parts of the list of jobs: which jobs it shows, the filter of an address, orders, saved views, and a page that is read again.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { asOfNow } from '../../web/src/data/days.ts';
import { withFreshItems } from '../../web/src/data/query/fresh-page.ts';
import { isByFigure, nextSort, sortOf } from '../../web/src/pages/jobs/columns.ts';
import { toFilter } from '../../web/src/pages/jobs/filter.ts';
import { nextTop } from '../../web/src/pages/jobs/next-top.ts';
import {
  MOST_VIEWS,
  hasRoomFor,
  viewsOf,
  withName,
  withView,
  type View,
} from '../../web/src/pages/jobs/views/views.ts';

const rowsOf = (...ids: string[]) => ids.map((id) => ({ id }));
const view = (name: string, status = 'failed'): View => ({ name, search: { status } });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a held list keeps its first row, and another list begins with its own', () => {
  const top = nextTop(null, 'all', rowsOf('3', '2'), true);
  expect(top).toEqual({ list: 'all', id: '3' });
  expect(nextTop(top, 'all', rowsOf('4', '3', '2'), true)).toBe(top);
  expect(nextTop(top, 'all', rowsOf('4'), true)).toBe(top);
  expect(nextTop(top, 'failed', rowsOf('9'), true)).toEqual({ list: 'failed', id: '9' });
});

test('a list is not held while the rows are those of another list, or while it has none', () => {
  // The rows of the order before are shown until those of the default order arrive.
  const whileLoading = nextTop({ list: 'failed', id: '3' }, 'all', rowsOf('1', '2'), false);
  expect(whileLoading).toBeNull();
  expect(nextTop(whileLoading, 'all', rowsOf('9', '8'), true)).toEqual({ list: 'all', id: '9' });
  expect(nextTop(null, 'all', [], true)).toBeNull();
});

test('the filter of the last hour stays the same while the time goes on, and each request computes its start', () => {
  const start = Date.UTC(2026, 0, 31, 12);
  const filter = toFilter({ range: 'hour' }, 'utc', start);
  expect(toFilter({ range: 'hour' }, 'utc', start + 60_000)).toEqual(filter);
  vi.setSystemTime(start + 60_000);
  expect(asOfNow(filter)).toEqual({ created_after: '2026-01-31T11:01:00.000Z' });
  expect(asOfNow({ created_after: '2026-01-01T00:00:00.000Z' })).toEqual({ created_after: '2026-01-01T00:00:00.000Z' });
});

test('a click on a header sorts largest first, then smallest first, then by the default', () => {
  expect([nextSort(undefined, 'cost'), nextSort('cost', 'cost'), nextSort('-cost', 'cost')]).toEqual([
    'cost',
    '-cost',
    undefined,
  ]);
  expect([nextSort(undefined, 'created'), nextSort('-created', 'created')]).toEqual(['-created', undefined]);
  expect([sortOf('-tokens'), sortOf('created'), sortOf('nonsense')]).toEqual(['-tokens', undefined, undefined]);
  expect([isByFigure('-cost'), isByFigure('-created'), isByFigure(undefined)]).toEqual([true, false, false]);
});

test('a sorted list of several pages keeps its items and their order when its first page is read again', () => {
  const page = (next: string | null, ...items: [string, string][]) => ({
    data: items.map(([id, status]) => ({ id, status })),
    next_cursor: next,
  });
  const known = { pages: [page('a', ['1', 'running'], ['2', 'queued']), page(null, ['3', 'queued'])], pageParams: [] };
  const fresh = page('b', ['4', 'running'], ['3', 'running'], ['1', 'completed']);
  expect(withFreshItems(known, fresh).pages).toEqual([
    page('a', ['1', 'completed'], ['2', 'queued']),
    page(null, ['3', 'running']),
  ]);
  expect(withFreshItems({ pages: [page(null, ['1', 'running'])], pageParams: [] }, fresh).pages).toEqual([fresh]);
});

test('no saved view is lost by a name that another one has, or because there are too many', () => {
  const two = [view('mine'), view('yours', 'running')];
  expect(withName(two, 'mine', 'yours')).toBe(two);
  expect(withName(two, 'mine', 'ours').map(({ name }) => name)).toEqual(['ours', 'yours']);
  const all = Array.from({ length: MOST_VIEWS }, (_, at) => view(`view ${at}`));
  expect(hasRoomFor(all, 'another')).toBe(false);
  expect(withView(all, view('another'))).toBe(all);
  expect(withView(all, view('view 0', 'queued'))).toHaveLength(MOST_VIEWS);
});

test('of stored views with the same name the last one is taken, and what is no view is left out', () => {
  expect(viewsOf([view('mine'), { name: 7 }, view('mine', 'queued')])).toEqual([view('mine', 'queued')]);
  expect(viewsOf('nonsense')).toBeNull();
});
