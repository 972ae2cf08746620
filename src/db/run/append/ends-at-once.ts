/** Calls that are requested and closed by the same append: one insert stores them with their end. */
import type { ToolCallId } from '../../../core/ids.ts';
import type { CallChange } from '../../../core/run/append.ts';

export type CallEnd = Extract<CallChange, { kind: 'close' }>;

export function endsAtOnce(calls: readonly CallChange[]): Map<ToolCallId, CallEnd> {
  const requested = new Set(calls.flatMap((change) => (change.kind === 'request' ? [change.call.id] : [])));
  return new Map(
    calls.flatMap((change) =>
      change.kind === 'close' && requested.has(change.id) ? [[change.id, change] as const] : [],
    ),
  );
}
