/**
 * Decides whether a call needs approval, from the rules and from the tool's own setting. If an approval function
 * throws, hangs or returns an invalid value, or the validation throws, the call needs approval, and the log has an
 * entry. A fault never lets a call run.
 */
import { APPROVALS, decideApproval, type Approval } from '../../core/run/policy.ts';
import type { ToolInvocation, ApprovalCheck } from '../../core/tools/tool.ts';
import type { ApprovalCall } from '../registry/tool-context.ts';
import { callerOf } from './facts.ts';
import { faultName } from './fault.ts';
import type { Registry } from '../registry/registry.ts';
import type { ToolLog } from './tool-log.ts';
import type { Tool, Validated } from '../registry/tool.ts';

/** The timeout of an approval function, in milliseconds. */
const THINKS_MS = 10_000;

/** Never throws. `ruled`: the decision of the rules; null: none. */
export async function judge(
  registry: Registry,
  call: ToolInvocation,
  ruled: Approval | null,
  log: ToolLog | undefined,
): Promise<ApprovalCheck> {
  const tool = registry.get(call.name, call);
  if (ruled === 'deny') return 'deny';
  // A tool that runs elsewhere, or one that its MCP server has withdrawn.
  if (tool === undefined) return ruled === 'always' ? 'always' : 'fails';
  const own = tool.approval ?? 'never';
  if (typeof own === 'string' && decideApproval(ruled, own) !== 'always') return decideApproval(ruled, own);
  const input = await checked(tool, call, log);
  if (input !== null && !input.ok) return 'fails';
  if (input === null) return decideApproval(ruled, 'always');
  return decideApproval(ruled, typeof own === 'string' ? own : await ask(own, call, input.value, log));
}

/** Null: the validation itself failed. It may succeed when the call is executed, so a person is asked. */
async function checked(tool: Tool, call: ToolInvocation, log: ToolLog | undefined): Promise<Validated | null> {
  try {
    return await tool.validate(structuredClone(call.input));
  } catch (error) {
    const of = { tool: call.name, tool_call_id: call.id, context_id: call.contextId, error: faultName(error) };
    log?.warn(of, 'the validation of a tool failed; the call needs approval');
    return null;
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
  const timer = setTimeout(() => reject(new Error('The approval function timed out.')), THINKS_MS);
  try {
    const facts = { name: call.name, input, ...callerOf(call) };
    const returned: unknown = await Promise.race([Promise.resolve(predicate(facts)), late]);
    const approval = APPROVALS.find((one) => one === returned);
    if (approval === undefined)
      log?.warn(of, 'the approval function of a tool returned an invalid value; the call needs approval');
    return approval ?? 'always';
  } catch (error) {
    log?.warn({ ...of, error: faultName(error) }, 'the approval function of a tool failed; the call needs approval');
    return 'always';
  } finally {
    clearTimeout(timer);
  }
}
