/** Creates Prometheus metrics in a registry. Every name gets the prefix `nightshift_`. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type Instruments = {
  counter: (name: string, help: string, labels?: string[]) => Counter;
  gauge: (name: string, help: string, labels?: string[]) => Gauge;
  histogram: (name: string, help: string, buckets: number[], labels?: string[]) => Histogram;
  /** A gauge whose value is read when metrics are collected. */
  reading: (name: string, help: string, read: () => number) => Gauge;
};

export function createInstruments(registry: Registry): Instruments {
  const options = (name: string, help: string, labelNames: string[] = []) => ({
    name: `nightshift_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  return {
    counter: (name, help, labels) => new Counter(options(name, help, labels)),
    gauge: (name, help, labels) => new Gauge(options(name, help, labels)),
    histogram: (name, help, buckets, labels) => new Histogram({ ...options(name, help, labels), buckets }),
    reading: (name, help, read) =>
      new Gauge({
        ...options(name, help),
        collect() {
          this.set(read());
        },
      }),
  };
}

/** Buckets for short times, in seconds. */
export const FAST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
/** Buckets for long times, in seconds. */
export const SLOW = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600];

export function seconds(ms: number): number {
  return Math.max(0, ms) / 1_000;
}
