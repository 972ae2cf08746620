/** The columns of the table of jobs, and the orders of the list. */
import { JOB_ORDERS, type JobOrder, type JobSort } from '../../data/jobs/job-filter.ts';

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

export function columnsOf(value: unknown): ColumnName[] | null {
  return Array.isArray(value) ? COLUMNS.filter((name) => value.includes(name)) : null;
}

/** Each order largest, or newest, first, and the other way round. */
export const SORTS: readonly JobSort[] = JOB_ORDERS.flatMap((name): JobSort[] => [name, `-${name}`]);

/** Undefined: the default, or it is unknown. */
export function sortOf(text: string | undefined): JobSort | undefined {
  return SORTS.find((one) => one === text && one !== 'created');
}

/** Of a column that sorts. */
export function orderOf(name: ColumnName): JobOrder | undefined {
  return JOB_ORDERS.find((one) => one === name);
}

/** Whether it is by a figure: then the API sorts the newest jobs only. */
export function isByFigure(sort: JobSort | undefined): boolean {
  return sort !== undefined && sort !== 'created' && sort !== '-created';
}

/** After a click on a header: largest first, then smallest first, then the default. */
export function nextSort(sort: JobSort | undefined, name: JobOrder): JobSort | undefined {
  const now = sort ?? 'created';
  if (now === name) return `-${name}`;
  if (now === `-${name}`) return undefined;
  return name === 'created' ? undefined : name;
}

export function directionOf(sort: JobSort | undefined, name: JobOrder): 'ascending' | 'descending' | undefined {
  const now = sort ?? 'created';
  if (now === name) return 'descending';
  return now === `-${name}` ? 'ascending' : undefined;
}
