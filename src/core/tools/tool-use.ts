/**
 * What tenants use of each tool: calls by how they ended, codes of failures, durations. Worker processes count it as
 * calls end, and store it once a minute, by tool and hour: no call costs a row or a statement of its own.
 *
 * Not counted: calls that were cancelled with their job, and calls of tools that do not exist.
 */
import type { Append } from '../run/append.ts';
import type { ContextId, JobId, TenantId, ToolCallId } from '../ids.ts';
import type { Millis } from '../time.ts';
import type { ClosedCallStatus } from './tool-call.ts';

/** How calls end that are counted. */
export const USE_STATUSES = ['completed', 'failed', 'denied', 'expired', 'unknown'] as const;
export type UseStatus = (typeof USE_STATUSES)[number];

/** Upper bounds of the counted durations, in milliseconds. The last one is open. */
export const USE_BOUNDS: readonly number[] = [
  5,
  10,
  25,
  50,
  100,
  250,
  500,
  1_000,
  2_500,
  5_000,
  10_000,
  30_000,
  60_000,
  180_000,
  600_000,
  Infinity,
];

/** Failures of a tool that are kept, in each hour. */
export const KEPT_FAILURES = 5;

/** Of failed calls whose result has no code. */
export const NO_CODE = 'error';
/** Of calls of a tool that the worker does not have. */
export const UNKNOWN_TOOL = 'unknown_tool';

export type UseFailure = { at: Millis; code: string; context_id: ContextId; job_id: JobId; tool_call_id: ToolCallId };

/** `times`: calls that ran, by `USE_BOUNDS`. `failures`: the last ones, newest first. */
export type ToolUse = Record<UseStatus, number> & {
  codes: Record<string, number>;
  times: number[];
  lastAt: Millis;
  failures: UseFailure[];
};

export function noUse(): ToolUse {
  const times = USE_BOUNDS.map(() => 0);
  // Without the members that every object has: tools choose the codes, and one may be `constructor`.
  const codes: Record<string, number> = Object.create(null);
  return { completed: 0, failed: 0, denied: 0, expired: 0, unknown: 0, codes, times, lastAt: 0, failures: [] };
}

/** A call that has ended. `code`: only of a failed one. */
export type EndedUse = {
  id: ToolCallId;
  name: string;
  status: UseStatus;
  code: string;
  tenantId: TenantId;
  contextId: ContextId;
  jobId: JobId | null;
  at: Millis;
};

/** The calls that an append ended, which committed at this time. */
export function usesOf({ lease, entries, calls }: Append, at: Millis): EndedUse[] {
  const ends = calls.flatMap((change) => (change.kind === 'close' ? [change] : []));
  if (ends.length === 0) return [];
  const names = new Map<ToolCallId, string>();
  const jobs = new Map<string, JobId | null>();
  for (const entry of entries) {
    if (entry.kind === 'event' && entry.event.name === 'ToolCallFinished')
      names.set(entry.event.data.tool_call_id, entry.event.data.name);
    if (entry.kind === 'message' && entry.message.role === 'tool')
      for (const block of entry.message.content)
        if (block.type === 'tool_result') jobs.set(block.tool_use_id, entry.message.jobId);
  }
  return ends.flatMap(({ id, status, code }) => {
    const name = names.get(id);
    if (name === undefined || !isCounted(status) || code === UNKNOWN_TOOL) return [];
    const { tenantId, contextId } = lease;
    return [{ id, name, status, code: code ?? NO_CODE, tenantId, contextId, jobId: jobs.get(id) ?? null, at }];
  });
}

function isCounted(status: ClosedCallStatus): status is UseStatus {
  return status !== 'cancelled';
}

/** The place of a duration among `USE_BOUNDS`. */
export function placeOf(ms: number): number {
  return Math.max(
    0,
    USE_BOUNDS.findIndex((bound) => ms <= bound),
  );
}

const CODE = /^[\w.:-]{1,64}$/;

/** The code of an error in the format of tools (`{"error": {"code"}}`), if it is short and plain; else null. */
export function codeIn(content: unknown): string | null {
  if (typeof content !== 'string' || !content.startsWith('{"error":{"code":"')) return null;
  const code = content.slice('{"error":{"code":"'.length).split('"', 1)[0] ?? '';
  return CODE.test(code) ? code : null;
}
