/**
 * The SDK of OpenTelemetry for a process of its own. What is not sent waits in a bounded queue; what exceeds it is
 * dropped, so a collector that is down costs no memory and delays nothing.
 */
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  hostDetector,
  processDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
  type ResourceDetector,
} from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import pTimeout from 'p-timeout';
import { Registry, collectDefaultMetrics } from 'prom-client';
import { parseFigures } from '../core/figures.ts';
import { FigureProducer } from './figure-producer.ts';
import { otelTracing } from './otel-tracing.ts';
import { reportOutages } from './outage.ts';
import type { OpenTelemetry, TelemetryOptions } from './options.ts';

/** How long a process that stops waits for the collector, in milliseconds. */
const FLUSH_MS = 2_000;

/** How long an ended span waits for others, in milliseconds: a process that is killed loses so much. */
const DELAY_MS = 1_000;

/** Spans that wait to be sent. */
const MOST_WAITING = 4_096;

/** The command line may contain secrets. */
const withoutCommand: ResourceDetector = {
  detect() {
    const { attributes = {} } = processDetector.detect();
    return {
      attributes: Object.fromEntries(
        Object.entries(attributes).filter(([name]) => !name.startsWith('process.command')),
      ),
    };
  },
};

export function startSdk({ version, warn }: TelemetryOptions): OpenTelemetry {
  const detectors = [hostDetector, withoutCommand, serviceInstanceIdDetector, envDetector];
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'nightshift', 'service.version': version }))
    .merge(detectResources({ detectors }));
  const outage = reportOutages(warn);
  const exporter = outage.watch('traces', new OTLPTraceExporter());
  const tracers = new TracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: MOST_WAITING, scheduledDelayMillis: DELAY_MS })],
  });
  // If the operator's own code has registered others before, those are used.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(tracers);
  // Instrumented clients of tools write `traceparent` with it.
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const producer = new FigureProducer(resource, version);
  // Of its own: each reading begins the next figures of the event loop, and those of `/metrics` go on.
  const ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  producer.add(async () => parseFigures(await ofProcess.getMetricsAsJSON()));
  const reader = new PeriodicExportingMetricReader({
    exporter: outage.watch('metrics', new OTLPMetricExporter()),
    metricProducers: [producer],
  });
  const meters = new MeterProvider({ resource, readers: [reader] });
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    const flushed = Promise.allSettled([tracers.shutdown(), meters.shutdown()]);
    await pTimeout(flushed, { milliseconds: FLUSH_MS }).catch(() => undefined);
  };
  return {
    tracing: otelTracing(version),
    addFigures: (read) => producer.add(read),
    close: () => (closing ??= close()),
  };
}
