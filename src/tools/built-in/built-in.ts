/** How a built-in tool is made: arguments by a JSON Schema, a result as JSON text, errors with a code. */
import type { JsonObject } from '../../core/json.ts';
import type { AnsweredBy, Effect, ToolInvocation } from '../../core/tool.ts';
import { fromJsonSchema } from '../input.ts';
import type { Tool, OwnApproval } from '../tool.ts';

export type BuiltIn = {
  name: string;
  description: string;
  /** Of the arguments, which are an object and hold nothing else. */
  properties: JsonObject;
  required: string[];
  effect: Effect;
  answeredBy?: AnsweredBy;
  approval?: OwnApproval;
  /** Without it the general limit holds. */
  timeoutMs?: number;
  /** `input` matches the schema. Throws `ToolFault`. */
  execute(input: JsonObject, call: BuiltInCall): unknown;
};

/** `signal` is aborted when the call is cancelled or out of time. */
export type BuiltInCall = ToolInvocation & { signal: AbortSignal };

/** A text argument; empty where there is none. */
export function textIn(input: JsonObject, name: string): string {
  const value = input[name];
  return typeof value === 'string' ? value : '';
}

export function builtIn(of: BuiltIn): Tool {
  const { name, description, properties, required, effect } = of;
  const input = fromJsonSchema({ type: 'object', properties, required, additionalProperties: false });
  if (!input.ok) throw new Error(`${name}: ${input.problem}`);
  const { schema, validate } = input;
  return {
    descriptor: {
      name,
      description,
      input_schema: schema,
      effect,
      on_unknown: 'tell',
      answered_by: of.answeredBy ?? 'tool',
    },
    timeoutMs: of.timeoutMs ?? null,
    approval: of.approval ?? 'never',
    errors: 'coded',
    validate,
    execute: async (checked, { signal }, call) => {
      // What `validate` let through is an object of the schema.
      const result = await of.execute(checked as JsonObject, { ...call, signal });
      return JSON.stringify(result);
    },
  };
}
