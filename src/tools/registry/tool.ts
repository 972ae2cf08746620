/** A validated tool, as stored in the registry. */
import type { Json } from '../../core/json.ts';
import type { ToolDescriptor, ToolInvocation } from '../../core/tools/tool.ts';
import type { Approval } from '../../core/run/policy.ts';
import type { ApprovalCall, ToolContext, UnknownCall } from '../config/define.ts';

/** `problems`: messages that help a model correct its arguments, one per line. */
export type Validated = { ok: true; value: unknown } | { ok: false; problems: string[] };

export type Validate = (input: Json) => Validated | Promise<Validated>;

/** A tool's own approval setting. A function may return, throw and await anything. */
export type OwnApproval = Approval | ((call: ApprovalCall) => unknown);

export type Tool = {
  descriptor: ToolDescriptor;
  /** Default: `never`. */
  approval?: OwnApproval;
  /** Null: the general tool timeout. */
  timeoutMs: number | null;
  /** Errors are JSON with a code (`tool-fault.ts`). Default: plain text. */
  errors?: 'coded';
  validate: Validate;
  /** Receives the validated input. May throw, reject, hang, and return anything. `call`: the call to execute. */
  execute(input: unknown, context: ToolContext, call: ToolInvocation): unknown;
  /** Returns the outcome of a call whose end was not recorded. Absent: the tool cannot tell. */
  reconcile?: (call: UnknownCall<unknown>) => unknown;
};
