/** Named views of the list of jobs: what it is filtered and sorted by, and its columns. Names are unique. */
import { jobsWords } from '../../../words.ts';
import { columnsOf, type ColumnName } from '../columns.ts';
import { SEARCH_NAMES, type JobSearch } from '../filter.ts';

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

function hasName(views: readonly View[], name: string): boolean {
  return views.some((view) => view.name === name);
}

/** Whether a view of this name has a place; one of the same name is replaced. */
export function hasRoomFor(views: readonly View[], name: string): boolean {
  return views.length < MOST_VIEWS || hasName(views, name);
}

/** Replaces one of the same name. Unchanged if there is no room. */
export function withView(views: readonly View[], view: View): readonly View[] {
  return hasRoomFor(views, view.name) ? [...withoutView(views, view.name), view] : views;
}

/** Whether the name of one view would be that of another. */
export function isTaken(views: readonly View[], from: string, to: string): boolean {
  return to !== from && hasName(views, to);
}

/** Unchanged if another one has the name. */
export function withName(views: readonly View[], from: string, to: string): readonly View[] {
  return isTaken(views, from, to) ? views : views.map((view) => (view.name === from ? { ...view, name: to } : view));
}

export function withoutView(views: readonly View[], name: string): readonly View[] {
  return views.filter((view) => view.name !== name);
}

export function isShown({ search }: View, now: JobSearch): boolean {
  return SEARCH_NAMES.every((name) => search[name] === now[name]);
}

/** Of what is stored. Null: it is not valid. */
export function viewsOf(stored: unknown): View[] | null {
  if (!Array.isArray(stored)) return null;
  const byName = new Map<string, View>();
  for (const one of stored) {
    const view = viewOf(one);
    if (view !== null) byName.set(view.name, view);
  }
  return [...byName.values()];
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
