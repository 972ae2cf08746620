/**
 * The place of work in a trace, in the format of the HTTP header `traceparent` (W3C Trace Context): a trace id, the id of
 * the span above, and flags.
 */
import type { JobId } from '../ids.ts';

declare const traceParent: unique symbol;
/** `00-<32 hexadecimal digits>-<16>-<2>`. */
export type TraceParent = string & { readonly [traceParent]: true };

const FORMAT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Null: the header is invalid, and is ignored as the standard says. Later versions are read as version 00. */
export function parseTraceParent(header: string): TraceParent | null {
  const [, version, traceId, spanId, flags, more] = FORMAT.exec(header.trim()) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return toTraceParent(traceId, spanId, flags);
}

/** The parts are valid: hexadecimal digits in lower case, and neither id is zero. */
export function toTraceParent(traceId: string, spanId: string, flags: string): TraceParent {
  return `00-${traceId}-${spanId}-${flags}` as TraceParent;
}

/** Where a job belongs that no trace asked for: all its spans are in one trace, which has the id of the job. */
export function traceParentOfJob(id: JobId): TraceParent {
  const digits = id.replaceAll('-', '');
  return toTraceParent(digits, digits.slice(16), '01');
}
