/**
 * Evaluates a soak: compares the first quarter after the warm-up to the last one, computes slopes and leftovers. Pure.
 */
import { median, slope, type Figure, type Goal } from '../figures.ts';
import type { Sample } from './sample.ts';
import type { Table } from './stored.ts';

/** The share of the warm-up: pools fill, code is compiled, the first contexts age. */
const WARM_UP = 1 / 6;

/** The state after all contexts were deleted. */
export type Rest = { tables: Record<string, Table>; redisKeys: Record<string, number>; keys: number };

/** Tables without rows of contexts; all others must be empty after the deletion. */
const NOT_OF_CONTEXTS: readonly string[] = ['processes', 'roles', 'provider_throttles', 'idempotency_keys'];

/** `rest`: null if the soak was aborted. */
export function figuresOf(samples: readonly Sample[], rest: Rest | null): Figure[] {
  const minutes = samples.at(-1)?.minute ?? 0;
  const warm = samples.filter(({ minute }) => minute > minutes * WARM_UP);
  return [
    line('soak', 'minutes', minutes),
    ...latencyFigures(warm),
    ...memoryFigures(warm),
    ...storeFigures(samples, warm),
    ...(rest === null ? [] : restFigures(rest)),
  ];
}

/** The first and the last quarter; both are everything if there are too few samples. */
function quarters(samples: readonly Sample[]): readonly [first: Sample[], last: Sample[]] {
  const size = Math.max(1, Math.floor(samples.length / 4));
  return [samples.slice(0, size), samples.slice(-size)];
}

/** The median of the last quarter divided by that of the first. */
function growth(samples: readonly Sample[], of: (sample: Sample) => number): number {
  const [first, last] = quarters(samples);
  return median(last.map(of)) / median(first.map(of));
}

function perHour(samples: readonly Sample[], of: (sample: Sample) => number | null): number {
  return slope(
    samples.flatMap((sample) => {
      const value = of(sample);
      return value === null ? [] : [[sample.minute / 60, value] as const];
    }),
  );
}

/**
 * A heap grows between collections, which may be minutes apart, so the slope is taken of the minima of this many parts.
 */
const LOWS = 10;

function heapPerHour(samples: readonly Sample[], name: string): number {
  const size = Math.ceil(samples.length / LOWS);
  const parts = Array.from({ length: LOWS }, (_, part) => samples.slice(part * size, (part + 1) * size));
  const heap = (sample: Sample): number => sample.processes[name]?.heapMb ?? Infinity;
  const lows = parts.flatMap((part) => part.toSorted((a, b) => heap(a) - heap(b)).slice(0, 1));
  return perHour(lows, (sample) => sample.processes[name]?.heapMb ?? null);
}

function latencyFigures(warm: readonly Sample[]): Figure[] {
  const of = (name: string, what: 'posts' | 'finishes', share: 'p50' | 'p99', bound: number): Figure[] => [
    line(`${name}, ${share}, last quarter`, 'ms', median(quarters(warm)[1].map((one) => one[what][share]))),
    line(
      `${name}, ${share}, last quarter / first quarter`,
      '×',
      growth(warm, (one) => one[what][share]),
      { of: 'value', is: 'at most', bound },
    ),
  ];
  return [
    ...of('POST of an input', 'posts', 'p50', 1.2),
    ...of('POST of an input', 'posts', 'p99', 2),
    ...of('from POST to the end of the job', 'finishes', 'p50', 1.2),
    ...of('from POST to the end of the job', 'finishes', 'p99', 2),
  ];
}

function memoryFigures(warm: readonly Sample[]): Figure[] {
  return Object.keys(warm[0]?.processes ?? {}).flatMap((name) => [
    line(
      `${name}, resident, last quarter`,
      'MB',
      median(quarters(warm)[1].map((one) => one.processes[name]?.residentMb ?? Number.NaN)),
    ),
    line(
      `${name}, resident, slope`,
      'MB/h',
      perHour(warm, (one) => one.processes[name]?.residentMb ?? null),
      { of: 'value', is: 'at most', bound: 20 },
    ),
    line(`${name}, JS heap, slope of its lows`, 'MB/h', heapPerHour(warm, name), {
      of: 'value',
      is: 'at most',
      bound: 10,
    }),
    line(
      `${name}, open files, slope`,
      '1/h',
      perHour(warm, (one) => one.processes[name]?.files ?? null),
    ),
  ]);
}

function storeFigures(samples: readonly Sample[], warm: readonly Sample[]): Figure[] {
  const sum = (sample: Sample, of: (table: Table, name: string) => number): number =>
    Object.entries(sample.tables).reduce((all, [name, table]) => all + of(table, name), 0);
  const ofContexts = ({ orphans, rows }: Table): number => (orphans === null ? 0 : rows);
  const orphans = samples.map((sample) => sum(sample, (table) => table.orphans ?? 0));
  return [
    line('rows of contexts, last quarter', '', median(quarters(warm)[1].map((one) => sum(one, ofContexts)))),
    line(
      'rows of contexts, last quarter / first quarter',
      '×',
      growth(warm, (one) => sum(one, ofContexts)),
      { of: 'value', is: 'at most', bound: 1.1 },
    ),
    line('maximum rows of deleted contexts', '', Math.max(...orphans), NONE),
    line(
      'size of tables without retained data, slope',
      'MB/h',
      perHour(warm, (one) => sum(one, ({ megabytes }, name) => (name === 'idempotency_keys' ? 0 : megabytes))),
    ),
    line(
      'memory of Redis, slope',
      'MB/h',
      perHour(warm, ({ redis }) => redis.megabytes),
    ),
    line(
      'keys in Redis, slope',
      '1/h',
      perHour(warm, ({ redis }) => redis.keys),
    ),
    line(
      'PostgreSQL sessions, slope',
      '1/h',
      perHour(warm, ({ connections }) => connections),
    ),
    line('unfinished jobs, last quarter', '', median(quarters(warm)[1].map(({ unfinished }) => unfinished))),
    line(
      'responses 503 or missing',
      '',
      samples.reduce((all, { done }) => all + unanswered(done), 0),
    ),
    line(
      'unexpected events',
      '',
      samples.reduce((all, { done }) => all + (done['trouble'] ?? 0), 0),
      NONE,
    ),
  ];
}

/** Counts by name of the users' actions. */
function unanswered(done: Readonly<Record<string, number>>): number {
  return Object.entries(done).reduce((sum, [what, count]) => sum + (/503|without/.test(what) ? count : 0), 0);
}

function restFigures({ tables, redisKeys, keys }: Rest): Figure[] {
  const left = Object.entries(tables).filter(([name]) => !NOT_OF_CONTEXTS.includes(name));
  return [
    line(
      'rows left after all contexts were deleted',
      '',
      left.reduce((sum, [, { rows }]) => sum + rows, 0),
      NONE,
    ),
    line('idempotency keys stored but never sent', '', (tables['idempotency_keys']?.rows ?? 0) - keys, NONE),
    line('patterns of leftover Redis keys with ids', '', leftovers(redisKeys).length, NONE),
  ];
}

/** Key patterns that contain the id of a context or job, or a number of them. */
export function leftovers(redisKeys: Record<string, number>): string[] {
  return Object.keys(redisKeys).filter((form) => form.includes('*'));
}

const NONE: Goal = { of: 'value', is: 'at most', bound: 0 };

function line(name: string, unit: string, value: number, goal: Goal | null = null): Figure {
  return { name, unit, nightshift: Number.isNaN(value) ? null : value, baseline: null, goal };
}
