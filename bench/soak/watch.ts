/** Samples the processes of the system several times per interval, because memory fluctuates. */
import { readdirSync } from 'node:fs';
import { median } from '../figures.ts';
import { cpuSeconds, residentMb } from '../usage.ts';

/** A process of the system; `name` is used in the figures. Only the API is scraped for metrics. */
export type Watched = { name: string; pid: number; kind: 'api' | 'worker' };

/** Values of one interval. `null`: unknown. */
export type Seen = {
  /** The median. */
  residentMb: number;
  /** The minimum, after a garbage collection. */
  heapMb: number | null;
  /** The share of one core. */
  cpu: number;
  /** Open files and connections now. */
  files: number | null;
  /** Event loop delay: the median of the medians, and the maximum of the 99th percentiles. */
  delayMs: number | null;
  delayP99Ms: number | null;
};

type Look = { resident: number; heap: number | null; delay: number | null; delayP99: number | null };

export type Watch = {
  look(): Promise<void>;
  /** Since the last request. */
  take(): Record<string, Seen>;
};

/** `labels`: the metric labels of worker processes by pid; a restarted process has a new label. */
export function watchProcesses(
  url: string,
  processes: readonly Watched[],
  labels: () => Promise<ReadonlyMap<number, string>>,
): Watch {
  const looks = new Map<Watched, Look[]>(processes.map((one) => [one, []]));
  let since = performance.now();
  const spent = new Map(processes.map((one) => [one, cpuSeconds(one.pid)]));
  return {
    async look() {
      // A failed scrape yields no values; the soak continues.
      const metrics = await fetch(`${url}/metrics`)
        .then((response) => response.text())
        .catch(() => '');
      const called = await labels();
      for (const [one, list] of looks) {
        const label = one.kind === 'api' ? null : (called.get(one.pid) ?? 'none');
        const figure = (name: string): number | null => figureIn(metrics, name, label);
        const heap = figure('nodejs_heap_size_used_bytes');
        list.push({
          resident: residentMb(one.pid),
          heap: heap === null ? null : heap / 2 ** 20,
          delay: milliseconds(figure('nodejs_eventloop_lag_p50_seconds')),
          delayP99: milliseconds(figure('nodejs_eventloop_lag_p99_seconds')),
        });
      }
    },
    take() {
      const seconds = (performance.now() - since) / 1_000;
      since = performance.now();
      const seen: Record<string, Seen> = {};
      for (const [one, list] of looks) {
        const all = list.splice(0);
        const used = cpuSeconds(one.pid);
        seen[one.name] = {
          residentMb: median(all.map(({ resident }) => resident)),
          heapMb: least(all.map(({ heap }) => heap)),
          cpu: (used - (spent.get(one) ?? 0)) / seconds,
          files: openFiles(one.pid),
          delayMs: middle(all.map(({ delay }) => delay)),
          delayP99Ms: most(all.map(({ delayP99 }) => delayP99)),
        };
        spent.set(one, used);
      }
      return seen;
    },
  };
}

/** A gauge in the Prometheus text format, without labels other than `process`. */
export function figureIn(text: string, name: string, process: string | null): number | null {
  const labels = process === null ? '' : `\\{process="${process}"\\}`;
  const value = new RegExp(`^${name}${labels} (\\S+)$`, 'm').exec(text)?.[1];
  return value === undefined ? null : Number(value);
}

function milliseconds(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1_000;
}

function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

function least(values: readonly (number | null)[]): number | null {
  return known(values).length === 0 ? null : Math.min(...known(values));
}

function most(values: readonly (number | null)[]): number | null {
  return known(values).length === 0 ? null : Math.max(...known(values));
}

function middle(values: readonly (number | null)[]): number | null {
  return known(values).length === 0 ? null : median(known(values));
}

function openFiles(pid: number): number | null {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return null;
  }
}
