/** One interval of a soak: requests, latencies, and the size of the system at its end. */
import { loadavg } from 'node:os';
import { percentile } from '../figures.ts';
import type { Account } from './protocol.ts';
import type { Stored } from './stored.ts';
import type { Seen } from './watch.ts';

export type Times = { count: number; p50: number; p99: number };

export type Sample = Stored & {
  /** Minutes since the first input. */
  minute: number;
  posts: Times;
  finishes: Times;
  cancels: Times;
  processes: Record<string, Seen>;
  /** The share of one core used by PostgreSQL and Redis; null: unknown. */
  servicesCpu: number | null;
  /** The load average of the last minute. If it exceeds the number of cores, latencies are not meaningful. */
  load: number;
} & Pick<Account, 'done' | 'trouble' | 'contexts' | 'keys' | 'streams'>;

export function toSample(
  minute: number,
  { posts, finishes, cancels, ...account }: Account,
  stored: Stored,
  processes: Record<string, Seen>,
  servicesCpu: number | null,
): Sample {
  const times = { posts: timesOf(posts), finishes: timesOf(finishes), cancels: timesOf(cancels) };
  const [load = Number.NaN] = loadavg();
  return { minute, ...times, ...account, ...stored, processes, servicesCpu, load };
}

function timesOf(all: readonly number[]): Times {
  return { count: all.length, p50: percentile(all, 0.5), p99: percentile(all, 0.99) };
}

/** A summary line for the terminal. */
export function lineOf(sample: Sample): string {
  const { posts, finishes, tables, redis } = sample;
  const memory = Object.entries(sample.processes).map(
    ([name, { residentMb, heapMb }]) => `${name} ${residentMb.toFixed(0)} (${heapMb?.toFixed(0) ?? '?'})`,
  );
  const cpu = Object.values(sample.processes).reduce((sum, one) => sum + one.cpu, sample.servicesCpu ?? 0);
  const all = Object.values(tables);
  const rows = all.reduce((sum, table) => sum + table.rows, 0);
  const orphans = all.reduce((sum, table) => sum + (table.orphans ?? 0), 0);
  const megabytes = all.reduce((sum, table) => sum + table.megabytes, 0);
  return [
    `${sample.minute.toFixed(1).padStart(5)} min`,
    `MB ${memory.join(', ')}`,
    `POST ${posts.count}: ${posts.p50.toFixed(1)}/${posts.p99.toFixed(0)} ms`,
    `end ${finishes.p50.toFixed(0)}/${finishes.p99.toFixed(0)} ms`,
    `CPU ${(cpu * 100).toFixed(0)} % (load ${sample.load.toFixed(1)})`,
    `${sample.unfinished} unfinished`,
    `${sample.contexts} contexts, ${rows} rows, ${orphans} orphans, ${megabytes.toFixed(0)} MB`,
    `Redis ${redis.keys} keys ${redis.megabytes.toFixed(1)} MB ${redis.clients} clients`,
    `${sample.connections} sessions`,
    ...(sample.trouble.length > 0 ? [`trouble: ${sample.trouble[0]}`] : []),
  ].join(' · ');
}
