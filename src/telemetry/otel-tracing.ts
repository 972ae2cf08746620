/** Traces by the API of OpenTelemetry, with the providers that are registered in this process. */
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  context,
  isSpanContextValid,
  trace,
  type Context,
  type SpanContext,
} from '@opentelemetry/api';
import { toTraceParent, type TraceParent } from '../core/tracing/trace-parent.ts';
import type { SpanStart, Tracing } from '../core/tracing/tracing.ts';

const KINDS: Readonly<Record<SpanStart['kind'], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
};

export function otelTracing(version: string): Tracing {
  const tracer = trace.getTracer('nightshift', version);
  return {
    start(name, { kind, parent, attributes, beganAt }) {
      const above = contextOf(parent);
      const now = Date.now();
      const startTime = Math.min(beganAt ?? now, now);
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes: { ...attributes }, startTime }, above);
      const within = trace.setSpan(above, span);
      return {
        // Without a provider the span is a copy of its parent.
        traceParent: traceParentOf(span.spanContext()) ?? parent,
        set: (more) => void span.setAttributes({ ...more }),
        fail(type) {
          span.setAttribute('error.type', type);
          span.setStatus({ code: SpanStatusCode.ERROR });
        },
        within: (work) => context.with(within, work),
        end: () => span.end(),
      };
    },
    active() {
      const span = trace.getSpanContext(context.active());
      return span === undefined ? null : traceParentOf(span);
    },
  };
}

function contextOf(parent: TraceParent | null): Context {
  if (parent === null) return ROOT_CONTEXT;
  const [, traceId = '', spanId = '', flags = '00'] = parent.split('-');
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function traceParentOf(span: SpanContext): TraceParent | null {
  if (!isSpanContextValid(span)) return null;
  return toTraceParent(span.traceId, span.spanId, span.traceFlags.toString(16).padStart(2, '0'));
}
