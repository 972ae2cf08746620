/** A tool that was checked: what the registry holds and the runner runs. */
import type { Json } from '../core/json.ts';
import type { ToolDescriptor, ToolInvocation } from '../core/tool.ts';
import type { Approval } from '../core/policy.ts';
import type { ApprovalCall, ToolContext, UnknownCall } from './define.ts';

/** `problems` are in words a model can use to correct itself, one a line. */
export type Validated = { ok: true; value: unknown } | { ok: false; problems: string[] };

export type Validate = (input: Json) => Validated | Promise<Validated>;

/** What a tool says itself of a person being asked first; a predicate may give back, throw and await anything. */
export type OwnApproval = Approval | ((call: ApprovalCall) => unknown);

export type Tool = {
  descriptor: ToolDescriptor;
  /** Without it: `never`. */
  approval?: OwnApproval;
  /** Null: the general limit holds. */
  timeoutMs: number | null;
  /** Its errors are told as JSON with a code (`tool-fault.ts`); without it: in words. */
  errors?: 'coded';
  validate: Validate;
  /** Given what `validate` made of the input. May throw, reject, hang, and give back anything. `call`: whose it is. */
  execute(input: unknown, context: ToolContext, call: ToolInvocation): unknown;
  /** What became of a call that nobody saw end. Absent: it has no way to tell. */
  reconcile?: (call: UnknownCall<unknown>) => unknown;
};
