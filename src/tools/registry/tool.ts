/** A validated tool, as stored in the registry. */
import type { Json } from '../../core/json.ts';
import type { ToolDescriptor, ToolInvocation } from '../../core/tools/tool.ts';
import type { Approval } from '../../core/run/policy.ts';
import type { ApprovalCall, ToolContext, TransactionalContext, UnknownCall } from './tool-context.ts';

/** `problems`: messages that help a model correct its arguments, one per line. */
export type Validated = { ok: true; value: unknown } | { ok: false; problems: string[] };

export type Validate = (input: Json) => Validated | Promise<Validated>;

/** A tool's own approval setting. A function may return, throw and await anything. */
export type OwnApproval = Approval | ((call: ApprovalCall) => unknown);

type ToolParts = {
  descriptor: ToolDescriptor;
  /** Default: `never`. */
  approval?: OwnApproval;
  /** Null: the general tool timeout. */
  timeoutMs: number | null;
  /** Errors are JSON with a code (`tool-fault.ts`). Default: plain text. */
  errors?: 'coded';
  validate: Validate;
  /** Returns the outcome of a call whose end was not recorded. Absent: the tool cannot tell. */
  reconcile?: (call: UnknownCall<unknown>) => unknown;
};

/** `execute` receives the validated input. It may throw, reject, hang, and return anything. `call`: the call to execute. */
export type PlainTool = ToolParts & {
  transactional?: false;
  execute(input: unknown, context: ToolContext, call: ToolInvocation): unknown;
};

/** It works in a transaction, which also stores its result. */
export type TransactionalTool = ToolParts & {
  transactional: true;
  execute(input: unknown, context: TransactionalContext, call: ToolInvocation): unknown;
};

export type Tool = PlainTool | TransactionalTool;
