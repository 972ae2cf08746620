/** Builds a built-in tool: arguments checked by a JSON Schema, results as JSON text, errors with a code. */
import type { JsonObject } from '../../core/json.ts';
import type { AnsweredBy, Effect, ToolInvocation } from '../../core/tools/tool.ts';
import { validateByOwn } from '../registry/input.ts';
import type { Tool, OwnApproval } from '../registry/tool.ts';

type BuiltIn = {
  name: string;
  description: string;
  /** The properties of the arguments object. Others are refused. */
  properties: JsonObject;
  required: string[];
  effect: Effect;
  answeredBy?: AnsweredBy;
  approval?: OwnApproval;
  /** Default: the general tool timeout. */
  timeoutMs?: number;
  /** `input` has passed the schema. Throws `ToolFault`. */
  execute(input: JsonObject, call: BuiltInCall): unknown;
};

/** `signal` is aborted when the call is cancelled or times out. */
export type BuiltInCall = ToolInvocation & { signal: AbortSignal };

/** A text argument; '' if it is missing. */
export function textIn(input: JsonObject, name: string): string {
  const value = input[name];
  return typeof value === 'string' ? value : '';
}

export function builtIn(of: BuiltIn): Tool {
  const { name, description, properties, required, effect } = of;
  const schema = { type: 'object', properties, required, additionalProperties: false };
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
    validate: validateByOwn(schema),
    execute: async (checked, { signal }, call) => {
      // `validate` has checked that the input is an object.
      const result = await of.execute(checked as JsonObject, { ...call, signal });
      return JSON.stringify(result);
    },
  };
}
