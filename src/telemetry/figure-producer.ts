/** Converts the process's Prometheus metrics for OTLP, so that both show the same numbers under the same names. */
import { ValueType, type HrTime } from '@opentelemetry/api';
import { hrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type CollectionResult,
  type DataPoint,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Figure, Labels, Sample } from '../core/figures.ts';

type Read = () => Promise<readonly Figure[]>;
type Times = Pick<DataPoint<number>, 'startTime' | 'endTime'>;

export class FigureProducer implements MetricProducer {
  readonly #sources: Read[] = [];
  readonly #resource: Resource;
  readonly #version: string;
  readonly #startTime: HrTime = hrTime();

  constructor(resource: Resource, version: string) {
    this.#resource = resource;
    this.#version = version;
  }

  add(read: Read): void {
    this.#sources.push(read);
  }

  async collect(): Promise<CollectionResult> {
    const read = await Promise.allSettled(this.#sources.map((source) => source()));
    const times = { startTime: this.#startTime, endTime: hrTime() };
    const byName = new Map<string, MetricData>();
    for (const figure of read.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))) {
      const data = byName.has(figure.name) ? null : toMetricData(figure, times);
      if (data !== null) byName.set(figure.name, data);
    }
    const scope = { name: 'nightshift', version: this.#version };
    return {
      resourceMetrics: {
        resource: this.#resource,
        scopeMetrics: [{ scope, metrics: [...byName.values()] }],
      },
      errors: read.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])),
    };
  }
}

/** Null: there is no value, or the type has no counterpart (summaries). */
export function toMetricData(figure: Figure, times: Times): MetricData | null {
  if (figure.samples.length === 0) return null;
  const base = {
    descriptor: { name: figure.name, description: figure.help, unit: unitOf(figure.name), valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = () =>
    figure.samples.filter(isFinite).map(({ labels, value }) => ({ ...times, attributes: { ...labels }, value }));
  switch (figure.type) {
    case 'counter':
      return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() };
    case 'gauge':
      return { ...base, dataPointType: DataPointType.GAUGE, dataPoints: points() };
    case 'histogram':
      return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(figure, times) };
    default:
      return null;
  }
}

function isFinite({ value }: Sample): boolean {
  return Number.isFinite(value);
}

function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return 's';
  return /_bytes(_total)?$/.test(name) ? 'By' : '';
}

/** One point for each set of labels. The buckets of Prometheus count all values up to a bound; those of OTLP between two. */
function histograms({ name, samples }: Figure, times: Times): DataPoint<Histogram>[] {
  const groups = new Map<string, { labels: Labels; parts: Sample[] }>();
  for (const part of samples) {
    const { le: _, ...labels } = part.labels;
    const key = JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
    const group = groups.get(key) ?? { labels, parts: [] };
    group.parts.push(part);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ labels, parts }) => {
    const find = (suffix: string): number => parts.find((part) => part.name === `${name}_${suffix}`)?.value ?? 0;
    const buckets = parts
      .filter((part) => part.name === `${name}_bucket`)
      .map(({ labels: { le }, value }) => ({ bound: le === '+Inf' ? Infinity : Number(le), value }))
      .sort((a, b) => a.bound - b.bound);
    const counts = buckets.map(({ value }, at) => value - (buckets[at - 1]?.value ?? 0));
    const boundaries = buckets.map(({ bound }) => bound).filter(Number.isFinite);
    const value = { buckets: { boundaries, counts }, sum: find('sum'), count: find('count') };
    return { ...times, attributes: { ...labels }, value };
  });
}
