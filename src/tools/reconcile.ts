/**
 * Asks a tool what became of a call of it that nobody saw end. Whatever goes wrong (it has no way to tell, throws, hangs,
 * says nonsense) leaves the outcome unknown; nothing throws.
 */
import type { Reconciled, ToolInvocation } from '../core/tool.ts';
import type { ToolContext } from './define.ts';
import { faultName } from './fault.ts';
import { resultOf } from './result.ts';
import { LONGEST_TIMER_MS } from './timer.ts';
import type { Tool } from './tool.ts';

type Options = {
  limits: { toolResult: number; toolTimeoutMs: number };
  log?: { warn(fields: Record<string, unknown>, text: string): void } | undefined;
};

const UNKNOWN: Reconciled = { kind: 'unknown' };

/** The first of: what the tool says, its time-out, the abort from outside. */
export async function reconcileCall(
  tool: Tool,
  call: ToolInvocation,
  outer: AbortSignal,
  { limits, log }: Options,
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
    unknown('a tool took too long to say what became of a call', null);
    own.abort(new DOMException('The question took too long.', 'TimeoutError'));
  };
  const timer = setTimeout(timeOut, Math.min(tool.timeoutMs ?? limits.toolTimeoutMs, LONGEST_TIMER_MS));
  outer.addEventListener('abort', abort, { once: true });
  void ask(tool, call, own.signal, limits).then(
    (said) =>
      said === null ? unknown('a tool said nonsense of what became of a call', null) : resolve(said),
    (error: unknown) => {
      if (!own.signal.aborted) unknown('a tool failed to say what became of a call', faultName(error));
    },
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', abort);
  }
}

/** Null: nonsense. Rejects with whatever the tool throws. */
async function ask(
  tool: Tool,
  call: ToolInvocation,
  signal: AbortSignal,
  limits: Options['limits'],
): Promise<Reconciled | null> {
  if (tool.reconcile === undefined) return UNKNOWN;
  // A copy: what the tool does to its input must not reach history.
  const input = await tool.validate(structuredClone(call.input));
  signal.throwIfAborted();
  if (!input.ok) return UNKNOWN;
  const facts: Omit<ToolContext, 'progress'> = {
    signal,
    idempotency_key: call.idempotencyKey,
    tool_call_id: call.id,
    job_id: call.jobId,
    worker_id: call.workerId,
    context_id: call.contextId,
  };
  return parse(await tool.reconcile({ input: input.value, ...facts }), limits.toolResult);
}

function parse(said: unknown, limit: number): Reconciled | null {
  if (typeof said !== 'object' || said === null || !('outcome' in said)) return null;
  switch (said.outcome) {
    case 'happened':
      return 'result' in said && said.result !== undefined
        ? { kind: 'happened', result: resultOf(said.result, limit) }
        : null;
    case 'did_not_happen':
      return { kind: 'did_not_happen' };
    case 'unknown':
      return UNKNOWN;
    default:
      return null;
  }
}
