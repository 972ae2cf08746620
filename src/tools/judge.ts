/**
 * Whether a person is asked before a call is run: what rules say, and what the tool says itself. A predicate that throws,
 * hangs or says nonsense asks, and leaves a line in the log: nothing runs because of a fault.
 */
import type { Json } from '../core/json.ts';
import { APPROVALS, decideApproval } from '../core/policy.ts';
import type { Approval } from '../core/policy.ts';
import type { ToolInvocation } from '../core/tool.ts';
import type { ApprovalCall } from './define.ts';
import { faultName } from './fault.ts';
import type { Registry } from './registry.ts';
import type { ToolLog } from './tool-log.ts';
import type { Tool, Validated } from './tool.ts';

/** How long a predicate may think, in milliseconds. */
const THINKS_MS = 10_000;

/** Never throws. `ruled`: what rules say; null: nothing. */
export async function judge(
  registry: Registry,
  call: ToolInvocation,
  ruled: Approval | null,
  log: ToolLog | undefined,
): Promise<Approval> {
  const tool = registry.get(call.name);
  // What is run elsewhere says nothing itself.
  if (tool === undefined || ruled === 'deny') return ruled ?? 'never';
  const own = tool.approval ?? 'never';
  if (typeof own === 'string' && decideApproval(ruled, own) !== 'always') return decideApproval(ruled, own);
  const input = await checked(tool, call.input);
  // Arguments that the tool does not take: it says so, and nobody is asked.
  if (!input.ok) return 'never';
  return decideApproval(ruled, typeof own === 'string' ? own : await ask(own, call, input.value, log));
}

/** What a tool's check throws is told when the call is run. */
async function checked(tool: Tool, input: Json): Promise<Validated> {
  try {
    return await tool.validate(structuredClone(input));
  } catch {
    return { ok: false, problems: [] };
  }
}

async function ask(
  predicate: (call: ApprovalCall) => unknown,
  call: ToolInvocation,
  input: unknown,
  log: ToolLog | undefined,
): Promise<Approval> {
  const of = { tool: call.name, tool_call_id: call.id, context_id: call.contextId };
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('It took too long.')), THINKS_MS);
  try {
    const asked = {
      name: call.name,
      input,
      tool_call_id: call.id,
      job_id: call.jobId,
      worker_id: call.workerId,
      context_id: call.contextId,
    };
    const said: unknown = await Promise.race([Promise.resolve(predicate(asked)), late]);
    const approval = APPROVALS.find((one) => one === said);
    if (approval === undefined) log?.warn(of, "a tool's approval is none: a person is asked");
    return approval ?? 'always';
  } catch (error) {
    log?.warn({ ...of, error: faultName(error) }, "a tool's approval failed: a person is asked");
    return 'always';
  } finally {
    clearTimeout(timer);
  }
}
