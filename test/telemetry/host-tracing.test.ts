// A service that embeds the platform: its own tracer is used, and nothing is registered where it has none.
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { NO_TRACING } from '../../src/core/tracing/tracing.ts';
import type { TraceParent } from '../../src/core/tracing/trace-parent.ts';
import { hostTracing } from '../../src/telemetry/telemetry.ts';

const PLACE = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` as TraceParent;

test('spans go to the tracer of the service, if it has one', async () => {
  expect(await hostTracing('1.0.0')).toBe(NO_TRACING);
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const tracing = await hostTracing('1.0.0');
  expect(tracing.active()).toBeNull();
  const span = tracing.start('above', { kind: 'internal', parent: PLACE, attributes: { a: 1 }, beganAt: 1_000 });
  const active = await span.within(async () => {
    await Promise.resolve();
    trace.getTracer('of a tool').startSpan('below').end();
    return tracing.active();
  });
  expect(active).toBe(span.traceParent);
  span.fail('aborted');
  span.end();
  const [below, above] = exporter.getFinishedSpans();
  expect(above).toMatchObject({
    name: 'above',
    parentSpanContext: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isRemote: true },
    startTime: [1, 0],
    attributes: { a: 1, 'error.type': 'aborted' },
  });
  expect(below).toMatchObject({ name: 'below', parentSpanContext: { spanId: above?.spanContext().spanId } });
});

test('a caller that does not want its trace recorded is respected', async () => {
  const tracing = await hostTracing('1.0.0');
  const unsampled = PLACE.replace(/01$/, '00') as TraceParent;
  const span = tracing.start('quiet', { kind: 'internal', parent: unsampled, attributes: {} });
  expect(span.traceParent).toMatch(/^00-a{32}-[0-9a-f]{16}-00$/);
  span.end();
});
