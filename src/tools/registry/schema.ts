/**
 * Compiles the JSON Schemas of tool inputs: draft 2020-12 and 7, with formats, listing all errors. Unknown keywords and
 * formats are ignored, as the standard requires. Problems are worded for the model that sent the arguments.
 */
import { Ajv, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { JsonObject } from '../../core/json.ts';
import { once } from '../../core/once.ts';
import { UNOPTIMISED } from '../../schema/validator.ts';
import { problemText } from '../../schema/problem-text.ts';
import type { Validate } from './tool.ts';
import { truncate } from '../run/truncate.ts';

/** Maximum number of problems per call, and characters of each. */
const MOST_PROBLEMS = 20;
const LONGEST_PROBLEM = 300;

const OPTIONS: Options = { code: UNOPTIMISED, strict: false, allErrors: true, logger: false };

const NEW_COMPILER = {
  '2020-12': (): Compiler => withFormats(new Ajv2020(OPTIONS)),
  '7': (): Compiler => withFormats(new Ajv(OPTIONS)),
};
type Compiler = Ajv | Ajv2020;
type Draft = keyof typeof NEW_COMPILER;

/** Created when they are used first, and shared: creating a compiler takes milliseconds. */
const SHARED = { '2020-12': once(NEW_COMPILER['2020-12']), '7': once(NEW_COMPILER['7']) };

type Compiled = { ok: true; validate: Validate } | { ok: false; problem: string };

/** Compiled schemas by draft and text: instances of a server list the same tools. The least recently used first. */
const KNOWN = new Map<string, { draft: Draft; schema: JsonObject; compiled: Compiled }>();
const MOST_KNOWN = 5_000;

/** A schema without $schema is compiled as 2020-12 or, if that fails, as draft 7. */
export function compileSchema(schema: JsonObject): Compiled {
  const { $schema, ...rest } = schema;
  if ($schema === undefined) {
    const newer = compileAs('2020-12', rest);
    if (newer.ok) return newer;
    const older = compileAs('7', rest);
    return older.ok ? older : newer;
  }
  const draft = draftOf($schema);
  return draft === null
    ? { ok: false, problem: 'its $schema is neither draft 2020-12 nor draft 7' }
    : compileAs(draft, rest);
}

function draftOf($schema: unknown): Draft | null {
  if (typeof $schema !== 'string') return null;
  const name = /^https?:\/\/json-schema\.org\/(.+)\/schema#?$/.exec($schema)?.[1];
  if (name === 'draft/2020-12') return '2020-12';
  return name === 'draft-07' ? '7' : null;
}

function compileAs(draft: Draft, schema: JsonObject): Compiled {
  if (schema['$async'] !== undefined) return { ok: false, problem: '$async is not a keyword of JSON Schema' };
  const text = JSON.stringify(schema);
  // A compiler remembers schemas with an $id, and two tools may use the same one.
  if (text.includes('"$id"')) return compileWith(NEW_COMPILER[draft](), schema);
  const key = `${draft} ${text}`;
  const known = KNOWN.get(key) ?? { draft, schema, compiled: compileWith(SHARED[draft](), schema) };
  KNOWN.delete(key);
  KNOWN.set(key, known);
  const [oldest] = KNOWN;
  if (KNOWN.size > MOST_KNOWN && oldest !== undefined) {
    KNOWN.delete(oldest[0]);
    SHARED[oldest[1].draft]().removeSchema(oldest[1].schema);
  }
  return known.compiled;
}

function compileWith(compiler: Compiler, schema: JsonObject): Compiled {
  try {
    const check = compiler.compile(schema);
    return {
      ok: true,
      validate: (input) =>
        check(input)
          ? { ok: true, value: input }
          : { ok: false, problems: bounded(check.errors ?? [], (error) => problemText(error, 'the arguments')) },
    };
  } catch (error) {
    return { ok: false, problem: truncate(error instanceof Error ? error.message : String(error), 1_000) };
  }
}

/** Limits the number and the length of problems. */
export function bounded<Problem>(problems: readonly Problem[], worded: (problem: Problem) => string): string[] {
  const shown = problems.slice(0, MOST_PROBLEMS).map((problem) => truncate(worded(problem), LONGEST_PROBLEM));
  const left = problems.length - shown.length;
  return left === 0 ? shown : [...shown, `and ${left} more`];
}

function withFormats<Plain extends Compiler>(compiler: Plain): Plain {
  formats.default(compiler);
  return compiler;
}
