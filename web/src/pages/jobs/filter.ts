/** Converts the search parameters of the address to a job filter of the API. */
import type { Json } from 'nightshift/client';
import { dayOf, spanOf, type Zone } from '../../data/days.ts';
import { UNFINISHED, type JobFilter, type JobStatus } from '../../data/jobs/job-filter.ts';
import { jobsWords, statusWords } from '../../words.ts';
import { sortOf } from './columns.ts';

const words = jobsWords.filters;

/** Parameters of the address. `metadata`: `name=value`. `range`: moves with the time; without one, `from` and `to` are days. */
export const SEARCH_NAMES = [
  'status',
  'kind',
  'role',
  'user',
  'metadata',
  'context_id',
  'worker_id',
  'parent_job_id',
  'q',
  'sort',
  'range',
  'from',
  'to',
] as const;
export type JobSearch = { [Name in (typeof SEARCH_NAMES)[number]]?: string };

const ENDED = ['completed', 'incomplete', 'failed', 'cancelled', 'interrupted'] as const satisfies JobStatus[];
const STATUSES = [...UNFINISHED, ...ENDED];

/** `unfinished` and `ended` stand for several statuses. */
const SEVERAL: ReadonlyMap<string, JobStatus[]> = new Map([
  ['unfinished', [...UNFINISHED]],
  ['ended', [...ENDED]],
]);

export const STATUS_OPTIONS: readonly { value: string; label: string }[] = [
  { value: 'unfinished', label: words.unfinished },
  { value: 'ended', label: words.ended },
  ...STATUSES.map((status) => ({ value: status, label: statusWords[status] })),
];

export const KIND_OPTIONS = (['input', 'retry', 'compact'] as const).map((value) => ({
  value,
  label: words.kinds[value],
}));

/** Parses `name=value`; a value that is valid JSON is parsed as JSON. Null if the form is wrong. */
export function memberOf(text: string): { [name: string]: Json } | null {
  const at = text.indexOf('=');
  if (at < 1) return null;
  const value = text.slice(at + 1);
  return { [text.slice(0, at)]: parse(value) };
}

function parse(value: string): Json {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

export const RANGES = ['hour', 'today', 'yesterday', 'week', 'custom'] as const;
export type Range = (typeof RANGES)[number];

/** Undefined: any time. Days in the address are a custom range. */
export function rangeOf({ range, from, to }: JobSearch): Range | undefined {
  const named = RANGES.find((one) => one === range);
  return named ?? (from === undefined && to === undefined ? undefined : 'custom');
}

const HOUR_MS = 3_600_000;
const WEEK_DAYS = 7;

/** `now`: in milliseconds. */
function spanOfSearch(
  search: JobSearch,
  zone: Zone,
  now: number,
): Pick<JobFilter, 'created_after' | 'created_before' | 'within_ms'> {
  const day = (back: number): string => dayOf(now, back, zone);
  switch (rangeOf(search)) {
    case 'hour':
      return { within_ms: HOUR_MS };
    case 'today':
      return spanOf(day(0), undefined, zone);
    case 'yesterday':
      return spanOf(day(1), day(1), zone);
    case 'week':
      return spanOf(day(WEEK_DAYS - 1), undefined, zone);
    case 'custom':
    case undefined:
      return spanOf(search.from, search.to, zone);
  }
}

/** `now`: in milliseconds; the filter changes once a day if its range does. */
export function toFilter(search: JobSearch, zone: Zone, now: number): JobFilter {
  const { status, kind, metadata, from: _from, to: _to, range: _range, sort: named, ...rest } = search;
  const sort = sortOf(named);
  const one = STATUSES.find((name) => name === status);
  const several = one === undefined ? SEVERAL.get(status ?? '') : [one];
  const known = KIND_OPTIONS.find(({ value }) => value === kind)?.value;
  const member = memberOf(metadata ?? '');
  return {
    ...rest,
    ...(member === null ? {} : { metadata: member }),
    ...(several === undefined ? {} : { status: several }),
    ...(known === undefined ? {} : { kind: known }),
    ...(sort === undefined ? {} : { sort }),
    ...spanOfSearch(search, zone, now),
  };
}
