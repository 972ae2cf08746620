/**
 * Asks a tool for the outcome of a call whose end was not recorded. If the tool has no `reconcile`, throws, hangs or
 * returns an invalid value, the outcome stays unknown. Nothing throws.
 */
import type { Reconciled, ToolInvocation } from '../../core/tools/tool.ts';
import { AS_IT_IS, type Hide } from '../packages/hide.ts';
import { factsOf } from './facts.ts';
import { faultName } from './fault.ts';
import { resultOf } from './result.ts';
import { LONGEST_TIMER_MS } from './timer.ts';
import type { Tool } from '../registry/tool.ts';
import type { ToolLog } from './tool-log.ts';

type Options = {
  limits: { toolResult: number; toolTimeoutMs: number };
  log?: ToolLog | undefined;
  hide?: Hide | undefined;
};

const UNKNOWN: Reconciled = { kind: 'unknown' };

/** Ends with the first of: the tool's answer, the timeout, the abort. */
export async function reconcileCall(
  tool: Tool,
  call: ToolInvocation,
  outer: AbortSignal,
  { limits, log, hide }: Options,
): Promise<Reconciled> {
  if (outer.aborted) return { kind: 'aborted' };
  const own = new AbortController();
  const { promise, resolve } = Promise.withResolvers<Reconciled>();
  const ids = { tool: call.name, tool_call_id: call.id, job_id: call.jobId, context_id: call.contextId };
  const unknown = (why: string, error: string | null): void => {
    log?.warn({ ...ids, ...(error !== null && { error }) }, why);
    resolve(UNKNOWN);
  };
  const abort = (): void => {
    resolve({ kind: 'aborted' });
    own.abort(outer.reason);
  };
  const timeOut = (): void => {
    unknown('reconcile of a tool timed out', null);
    own.abort(new DOMException('reconcile timed out.', 'TimeoutError'));
  };
  const timer = setTimeout(timeOut, Math.min(tool.timeoutMs ?? limits.toolTimeoutMs, LONGEST_TIMER_MS));
  outer.addEventListener('abort', abort, { once: true });
  void ask(tool, call, own.signal, { limits, hide }).then(
    (reconciled) =>
      reconciled === null ? unknown('reconcile of a tool returned an invalid value', null) : resolve(reconciled),
    (error: unknown) => {
      if (!own.signal.aborted) unknown('reconcile of a tool failed', faultName(error));
    },
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', abort);
  }
}

/** Null: an invalid value. Rejects with what the tool throws. */
async function ask(
  tool: Tool,
  call: ToolInvocation,
  signal: AbortSignal,
  { limits, hide = AS_IT_IS }: Options,
): Promise<Reconciled | null> {
  if (tool.reconcile === undefined) return UNKNOWN;
  // A copy, so that a tool that modifies its input does not change the history.
  const input = await tool.validate(structuredClone(call.input));
  signal.throwIfAborted();
  if (!input.ok) return UNKNOWN;
  return parse(await tool.reconcile({ input: input.value, ...factsOf(call, signal) }), limits.toolResult, hide);
}

function parse(returned: unknown, limit: number, hide: Hide): Reconciled | null {
  if (typeof returned !== 'object' || returned === null || !('outcome' in returned)) return null;
  switch (returned.outcome) {
    case 'happened':
      return 'result' in returned && returned.result !== undefined
        ? { kind: 'happened', result: resultOf(returned.result, limit, hide) }
        : null;
    case 'did_not_happen':
      return { kind: 'did_not_happen' };
    case 'unknown':
      return UNKNOWN;
    default:
      return null;
  }
}
