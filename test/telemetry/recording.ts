// A tracer that keeps what it is told.
import type { TraceParent } from '../../src/core/tracing/trace-parent.ts';
import type { SpanAttributes, SpanStart, Tracing } from '../../src/core/tracing/tracing.ts';

export type Recorded = {
  name: string;
  start: SpanStart;
  attributes: SpanAttributes;
  failed: string | null;
  ends: number;
};

/** The n-th span has the span id n. */
export function recording(): { tracing: Tracing; spans: Recorded[] } {
  const spans: Recorded[] = [];
  const tracing: Tracing = {
    start(name, start) {
      const span: Recorded = { name, start, attributes: start.attributes, failed: null, ends: 0 };
      spans.push(span);
      return {
        traceParent: placeOf(spans.length),
        set: (more) => void (span.attributes = { ...span.attributes, ...more }),
        fail: (type) => void (span.failed = type),
        within: (work) => work(),
        end: () => void (span.ends += 1),
      };
    },
    active: () => null,
  };
  return { tracing, spans };
}

export function placeOf(span: number): TraceParent {
  return `00-${'a'.repeat(32)}-${String(span).padStart(16, '0')}-01` as TraceParent;
}
