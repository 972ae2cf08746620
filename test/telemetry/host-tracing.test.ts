// A service that embeds the platform: its own tracer is used, and nothing is registered where it has none. A process of
// its own registers the SDK.
import { context, propagation, trace, type Span, type SpanContext } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NO_TRACING } from '../../src/core/tracing/tracing.ts';
import type { TraceParent } from '../../src/core/tracing/trace-parent.ts';
import { startSdk } from '../../src/telemetry/sdk.ts';
import { hostTracing } from '../../src/telemetry/telemetry.ts';
import { RunTrace } from '../../src/workers/run/run-trace.ts';
import { startCollector } from './collector.ts';
import { NO_SERVICES, call } from '../tools/invoke.ts';

beforeAll(forget);
afterAll(forget);

// Files of tests share a process.
function forget(): void {
  for (const api of [trace, context, propagation]) api.disable();
}

const PLACE = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` as TraceParent;

/** Numbers below the age of the process are read as times since its start. */
const BEGAN = 1_700_000_000_000;

test('spans go to the tracer of the service, if it has one', async () => {
  expect(await hostTracing('1.0.0')).toBe(NO_TRACING);
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const tracing = await hostTracing('1.0.0');
  expect(tracing.active()).toBeNull();
  const span = tracing.start('above', { kind: 'internal', parent: PLACE, attributes: { a: 1 }, beganAt: BEGAN });
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
    startTime: [BEGAN / 1_000, 0],
    attributes: { a: 1, 'error.type': 'aborted' },
  });
  expect(below).toMatchObject({ name: 'below', parentSpanContext: { spanId: above?.spanContext().spanId } });
});

test('a service that records no spans passes the place of a caller on, and makes up none', async () => {
  forget();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const tracing = await hostTracing('1.0.0');
  const start = { kind: 'internal', attributes: {}, otherwise: PLACE } as const;
  expect(tracing.start('made up', { ...start, parent: null }).traceParent).toBeNull();
  const called = PLACE.replace('a', 'c') as TraceParent;
  expect(tracing.start('called', { ...start, parent: called }).traceParent).toBe(called);
});

test('a span without a parent is recorded where its job belongs', async () => {
  forget();
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
  const tracing = await hostTracing('1.0.0');
  const span = tracing.start('run', { kind: 'internal', parent: null, otherwise: PLACE, attributes: {} });
  span.end();
  expect(span.traceParent).toMatch(/^00-a{32}-[0-9a-f]{16}-01$/);
  expect(exporter.getFinishedSpans()[0]?.parentSpanContext?.spanId).toBe('b'.repeat(16));
});

test('a caller that does not want its trace recorded is respected', async () => {
  const tracing = await hostTracing('1.0.0');
  const unsampled = PLACE.replace(/01$/, '00') as TraceParent;
  const span = tracing.start('quiet', { kind: 'internal', parent: unsampled, attributes: {} });
  expect(span.traceParent).toMatch(/^00-a{32}-[0-9a-f]{16}-00$/);
  span.end();
});

test('an instrumented client that a tool uses sends the place of its span, and no process sends its command line', async () => {
  forget();
  const collector = await startCollector();
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url;
  const sdk = startSdk({ version: '1.0.0', warn: () => undefined });
  delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const span = sdk.tracing.start('execute_tool', { kind: 'internal', parent: PLACE, attributes: {} });
  const headers: Record<string, string> = {};
  span.within(() => propagation.inject(context.active(), headers));
  span.end();
  await sdk.close();
  await collector.close();
  expect(span.traceParent).not.toBe(PLACE);
  expect(headers['traceparent']).toBe(span.traceParent);
  expect(collector.spans.map(({ name }) => name)).toEqual(['execute_tool']);
  expect(collector.metrics).toContain('nodejs_eventloop_lag_p99_seconds');
  expect(collector.text()).toContain('process.pid');
  expect(collector.text()).not.toContain('process.command');
  expect(collector.text()).not.toContain(String(process.argv[1]));
});

test.each(['startSpan', 'spanContext', 'setAttributes', 'setAttribute', 'setStatus', 'end'])(
  'an error that the tracer of the service throws in %s costs no result of a tool',
  async (method) => {
    const fault = (): never => {
      throw new Error('the tracer is broken');
    };
    const place = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), traceFlags: 1 };
    const span = { ...spanOfHost(place), [method]: fault };
    forget();
    trace.setGlobalTracerProvider({
      getTracer: () => ({ startSpan: method === 'startSpan' ? fault : () => span, startActiveSpan: fault }),
    });
    const tracing = await hostTracing('1.0.0');
    tracing.start('direct', { kind: 'internal', parent: null, attributes: {} }).set({ a: 1 });
    let executions = 0;
    const runner = new RunTrace(tracing).tools({
      judge: async () => 'never',
      mayAsk: () => false,
      execute: async ({ traceParent }) => {
        executions += 1;
        return { kind: 'result', content: traceParent ?? 'none', is_error: true };
      },
      reconcile: async () => ({ kind: 'unknown' }),
      outcomeWaitMs: null,
    });
    const invocation = call('shop__find', {});
    const { signal } = new AbortController();
    const isLost = method === 'startSpan' || method === 'spanContext';
    expect(await runner.execute(invocation, signal, NO_SERVICES)).toEqual({
      kind: 'result',
      content: isLost ? 'none' : `00-${place.traceId}-${place.spanId}-01`,
      is_error: true,
    });
    expect(executions).toBe(1);
  },
);

function spanOfHost(place: SpanContext): Span {
  const span: Span = {
    spanContext: () => place,
    setAttribute: () => span,
    setAttributes: () => span,
    addEvent: () => span,
    addLink: () => span,
    addLinks: () => span,
    setStatus: () => span,
    updateName: () => span,
    end: () => undefined,
    isRecording: () => true,
    recordException: () => undefined,
  };
  return span;
}
