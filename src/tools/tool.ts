/** A tool that was checked: what the registry holds and the runner runs. */
import type { Json } from '../core/json.ts';
import type { ToolDescriptor } from '../core/tool.ts';
import type { ToolContext } from './define.ts';

/** `problems` are in words a model can use to correct itself, one a line. */
export type Validated = { ok: true; value: unknown } | { ok: false; problems: string[] };

export type Validate = (input: Json) => Validated | Promise<Validated>;

export type Tool = {
  descriptor: ToolDescriptor;
  /** Null: the general limit holds. */
  timeoutMs: number | null;
  validate: Validate;
  /** Given what `validate` made of the input. May throw, reject, hang, and give back anything. */
  execute(input: unknown, context: ToolContext): unknown;
};
