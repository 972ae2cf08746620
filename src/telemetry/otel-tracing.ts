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
  type Span as OtelSpan,
  type SpanContext,
  type SpanOptions,
} from '@opentelemetry/api';
import { toTraceParent, type TraceParent } from '../core/tracing/trace-parent.ts';
import { NO_TRACING, type Span, type SpanStart, type Tracing } from '../core/tracing/tracing.ts';
import { guarded } from './guarded.ts';

const KINDS: Readonly<Record<SpanStart['kind'], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
};

export function otelTracing(version: string): Tracing {
  const tracer = trace.getTracer('nightshift', version);
  return {
    start(name, start) {
      const place = start.parent ?? start.otherwise ?? null;
      const above = contextOf(place);
      const span = guarded(() => tracer.startSpan(name, optionsOf(start), above), null);
      if (span === null) return NO_TRACING.start(name, start);
      const own = guarded(() => traceParentOf(span.spanContext()), null);
      // Without a provider the span is a copy of its parent: nothing is recorded.
      return spanOf(span, above, own === place ? start.parent : (own ?? start.parent));
    },
    active() {
      const span = guarded(() => trace.getSpanContext(context.active()), undefined);
      return span === undefined ? null : traceParentOf(span);
    },
  };
}

function optionsOf({ kind, attributes, beganAt }: SpanStart): SpanOptions {
  const now = Date.now();
  return { kind: KINDS[kind], attributes: { ...attributes }, startTime: Math.min(beganAt ?? now, now) };
}

function spanOf(span: OtelSpan, above: Context, traceParent: TraceParent | null): Span {
  return {
    traceParent,
    set: (more) => guarded(() => void span.setAttributes({ ...more }), undefined),
    fail(type) {
      guarded(() => void span.setAttribute('error.type', type), undefined);
      guarded(() => void span.setStatus({ code: SpanStatusCode.ERROR }), undefined);
    },
    // Not guarded: an error of `work` is its own.
    within: (work) => context.with(trace.setSpan(above, span), work),
    end: () => guarded(() => span.end(), undefined),
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
