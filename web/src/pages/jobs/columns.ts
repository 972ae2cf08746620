/** Which columns the table of jobs shows, and by what it is sorted. */
import type { JobSort } from '../../data/query/keys.ts';
import { storedJson } from '../../ui/state/stored-json.ts';

/** In their order, behind the job itself. */
export const COLUMNS = [
  'context',
  'worker',
  'role',
  'model',
  'user',
  'status',
  'tokens',
  'cost',
  'duration',
  'created',
] as const;
export type ColumnName = (typeof COLUMNS)[number];

const DEFAULT: readonly ColumnName[] = ['context', 'model', 'status', 'tokens', 'duration', 'created'];

export function columnsOf(value: unknown): ColumnName[] | null {
  return Array.isArray(value) ? COLUMNS.filter((name) => value.includes(name)) : null;
}

const shown = storedJson<readonly ColumnName[]>('jobs.columns', columnsOf, DEFAULT);

export function useColumns(): [readonly ColumnName[], (columns: readonly ColumnName[]) => void] {
  return [shown.use(), shown.set];
}

/** What the API sorts by; with `-` in front smallest, or oldest, first. */
export const SORTS = ['created', 'cost', 'duration', 'tokens'] as const;
export type SortName = (typeof SORTS)[number];
export type Sort = JobSort;

/** Undefined: the default, or it is unknown. */
export function sortOf(text: string | undefined): Sort | undefined {
  return SORTS.flatMap((name): Sort[] => [name, `-${name}`]).find((one) => one === text && one !== 'created');
}

/** After a click on a header: largest first, then smallest first, then the default. */
export function nextSort(sort: Sort | undefined, name: SortName): Sort | undefined {
  const now = sort ?? 'created';
  if (now === name) return `-${name}`;
  if (now === `-${name}`) return undefined;
  return name === 'created' ? undefined : name;
}

export function directionOf(sort: Sort | undefined, name: SortName): 'ascending' | 'descending' | undefined {
  const now = sort ?? 'created';
  if (now === name) return 'descending';
  return now === `-${name}` ? 'ascending' : undefined;
}
