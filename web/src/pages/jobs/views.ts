/** Named views of the list of jobs: what it is filtered and sorted by, and its columns. Stored in this browser. */
import { storedJson } from '../../ui/state/stored-json.ts';
import { jobsWords } from '../../words.ts';
import { columnsOf, type ColumnName } from './columns.ts';
import { SEARCH_NAMES, type JobSearch } from './filter.ts';

/** `columns` missing: as they are. */
export type View = { name: string; search: JobSearch; columns?: readonly ColumnName[] };

/** Most that are kept. */
export const MOST_VIEWS = 30;

const { named } = jobsWords.views;

export const GIVEN_VIEWS: readonly View[] = [
  { name: named.all, search: {} },
  { name: named.failedToday, search: { status: 'failed', range: 'today' } },
  { name: named.waiting, search: { status: 'waiting' } },
  { name: named.running, search: { status: 'running' } },
];

const saved = storedJson<readonly View[]>('jobs.views', viewsOf, []);

export function useViews(): readonly View[] {
  return saved.use();
}

/** Replaces one of the same name. */
export function saveView(view: View): void {
  saved.set([...saved.read().filter(({ name }) => name !== view.name), view].slice(-MOST_VIEWS));
}

export function renameView(from: string, to: string): void {
  const others = saved.read().filter(({ name }) => name !== to || name === from);
  saved.set(others.map((view) => (view.name === from ? { ...view, name: to } : view)));
}

export function deleteView(name: string): void {
  saved.set(saved.read().filter((view) => view.name !== name));
}

export function isShown({ search }: View, now: JobSearch): boolean {
  return SEARCH_NAMES.every((name) => search[name] === now[name]);
}

function viewsOf(stored: unknown): View[] | null {
  return Array.isArray(stored) ? stored.flatMap((one) => viewOf(one) ?? []) : null;
}

function viewOf(stored: unknown): View | null {
  if (!isObject(stored) || typeof stored['name'] !== 'string' || !isObject(stored['search'])) return null;
  const columns = columnsOf(stored['columns']);
  const search: JobSearch = {};
  for (const name of SEARCH_NAMES) {
    const value = stored['search'][name];
    if (typeof value === 'string') search[name] = value;
  }
  return { name: stored['name'], search, ...(columns !== null && { columns }) };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
