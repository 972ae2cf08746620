/**
 * The input of a tool: the JSON Schema for the model, and the validation of its arguments. Built from a JSON Schema
 * (`input_schema`), or from a library's schema (`input`) that does both.
 */
import type { JsonObject } from '../../core/json.ts';
import { once } from '../../core/once.ts';
import { jsonCopy } from '../run/json-copy.ts';
import { bounded, compileSchema } from './schema.ts';
import { isStandardSchema, validates, type StandardIssue, type StandardSchema } from '../config/standard-schema.ts';
import type { Validate, Validated } from './tool.ts';

export type ToolInput =
  | { ok: true; schema: JsonObject; validate: Validate }
  /** `at`: the path within the schema; empty: the schema itself. */
  | { ok: false; at: readonly string[]; problem: string };

/** JSON Schema drafts to request, in order of preference. */
const TARGETS = ['draft-2020-12', 'draft-07'];

export function fromJsonSchema(value: unknown): ToolInput {
  const schema = jsonCopy(value);
  if (schema === null) return broken('must be a JSON Schema: a plain JSON object');
  if (schema['type'] !== 'object') return notAnObject;
  const compiled = compileSchema(schema);
  return compiled.ok ? { ok: true, schema, validate: compiled.validate } : broken(compiled.problem);
}

/** Validates by one of our own schemas. The first call compiles it, not the start of the process. */
export function validateByOwn(schema: JsonObject): Validate {
  const validate = once(() => {
    const input = fromJsonSchema(schema);
    if (!input.ok) throw new Error(`A schema of a built-in tool is not valid: ${input.problem}`);
    return input.validate;
  });
  return (given) => validate()(given);
}

export function fromStandardSchema(value: unknown): ToolInput {
  if (!isStandardSchema(value)) {
    return broken(
      validates(value)
        ? 'its library does not implement Standard JSON Schema. zod does since 4.2, ArkType since 2.1.28; wrap a schema of Valibot in toStandardJsonSchema() of @valibot/to-json-schema. For other libraries use input_schema instead'
        : 'must be a Standard Schema, for example of zod 4.2 or newer. A JSON Schema or a schema of TypeBox belongs into input_schema',
    );
  }
  const derived = derive(value, 'input');
  if (!derived.ok) return broken(derived.problem);
  if (derived.schema['type'] !== 'object') return notAnObject;
  return { ok: true, schema: derived.schema, validate: validateBy(value) };
}

function broken(problem: string): ToolInput {
  return { ok: false, at: [], problem };
}

/** Providers accept only objects at the root. */
const notAnObject: ToolInput = {
  ok: false,
  at: ['type'],
  problem: 'must be "object", because tools take named arguments',
};

type Derived = { ok: true; schema: JsonObject } | { ok: false; problem: string };

/** `side`: of the value that the schema takes, or of the one that it makes. */
export function derive(source: StandardSchema, side: 'input' | 'output'): Derived {
  let problem = '';
  for (const target of TARGETS) {
    try {
      const { $schema: _, ...schema } = jsonCopy(source['~standard'].jsonSchema[side]({ target })) ?? {};
      return { ok: true, schema };
    } catch (error) {
      problem ||= `cannot be converted to JSON Schema: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return { ok: false, problem };
}

function validateBy(schema: StandardSchema): Validate {
  const { validate } = schema['~standard'];
  return async (input): Promise<Validated> => {
    const result = await validate(input);
    return result.issues === undefined
      ? { ok: true, value: result.value }
      : { ok: false, problems: bounded(result.issues, worded) };
  };
}

function worded({ message, path = [] }: StandardIssue): string {
  const keys = path.map((part) => `/${String(typeof part === 'object' ? part.key : part)}`);
  return `${keys.length === 0 ? 'the arguments' : keys.join('')}: ${message}`;
}
