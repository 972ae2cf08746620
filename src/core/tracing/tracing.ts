/** The port to traces. Attributes never contain text of users or models, and no secrets. */
import type { Millis } from '../time.ts';
import type { TraceParent } from './trace-parent.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[]>>;

export type SpanStart = {
  kind: 'internal' | 'server' | 'client';
  /** The span or the remote caller above; null: the span begins a trace. */
  parent: TraceParent | null;
  /** For a span without a parent: the place where it is recorded. Nothing else learns of it if nothing is recorded. */
  otherwise?: TraceParent;
  attributes: SpanAttributes;
  /** When it began; default: now. */
  beganAt?: Millis;
};

export type Span = {
  /** For work below this span, in this process or another one; null: no trace. */
  readonly traceParent: TraceParent | null;
  set(attributes: SpanAttributes): void;
  /** Marks the span as failed. `type`: a code from a small set. */
  fail(type: string): void;
  /** Runs `work` with this span as the active one, so that instrumented libraries add their spans below it. */
  within<T>(work: () => T): T;
  /** The first call counts. */
  end(): void;
};

export type Tracing = {
  start(name: string, start: SpanStart): Span;
  /** The active span of the surrounding service; null: there is none. */
  active(): TraceParent | null;
};

/** Records nothing, and passes on the traces of callers. */
export const NO_TRACING: Tracing = {
  start: (_, { parent }) => ({
    traceParent: parent,
    set: () => undefined,
    fail: () => undefined,
    within: (work) => work(),
    end: () => undefined,
  }),
  active: () => null,
};
