import { Counter, Gauge, Histogram, Registry, Summary } from 'prom-client';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { DataPointType } from '@opentelemetry/sdk-metrics';
import { expect, test } from 'vitest';
import { parseFigures } from '../../src/core/figures.ts';
import { FigureProducer } from '../../src/telemetry/figure-producer.ts';

test('metrics of Prometheus are sent with the same names and numbers', async () => {
  const registers = [new Registry()];
  const calls = new Counter({ name: 'calls_total', help: 'Calls.', labelNames: ['tool'], registers });
  const slots = new Gauge({ name: 'slots', help: 'Slots.', registers });
  const times = new Histogram({
    name: 'step_seconds',
    help: 'Steps.',
    labelNames: ['kind'],
    buckets: [1, 10],
    registers,
  });
  const summary = new Summary({ name: 'sizes', help: 'Sizes.', registers });
  calls.inc({ tool: 'a' }, 2);
  calls.inc({ tool: 'b' });
  slots.set(7);
  for (const seconds of [0.5, 2, 3, 50]) times.observe({ kind: 'call_model' }, seconds);
  summary.observe(1);
  const producer = new FigureProducer(resourceFromAttributes({}), '1.0.0');
  producer.add(async () => parseFigures(await registers[0]?.getMetricsAsJSON()));
  producer.add(async () => [
    { name: 'slots', help: '', type: 'gauge', samples: [{ name: 'slots', labels: {}, value: 9 }] },
  ]);
  producer.add(async () => Promise.reject(new Error('PostgreSQL does not answer')));
  const { resourceMetrics, errors } = await producer.collect();
  expect(errors).toEqual([new Error('PostgreSQL does not answer')]);
  const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  const sent = metrics.map(({ descriptor, dataPointType, dataPoints }) => ({
    name: descriptor.name,
    unit: descriptor.unit,
    type: dataPointType,
    points: dataPoints.map(({ attributes, value }) => ({ attributes, value })),
  }));
  expect(sent).toEqual([
    {
      name: 'calls_total',
      unit: '',
      type: DataPointType.SUM,
      points: [
        { attributes: { tool: 'a' }, value: 2 },
        { attributes: { tool: 'b' }, value: 1 },
      ],
    },
    { name: 'slots', unit: '', type: DataPointType.GAUGE, points: [{ attributes: {}, value: 7 }] },
    {
      name: 'step_seconds',
      unit: 's',
      type: DataPointType.HISTOGRAM,
      points: [
        {
          attributes: { kind: 'call_model' },
          value: { buckets: { boundaries: [1, 10], counts: [1, 2, 1] }, sum: 55.5, count: 4 },
        },
      ],
    },
  ]);
});
