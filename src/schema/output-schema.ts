/**
 * Schemas of structured answers. They come from clients, so each has a compiler of its own, and whatever is compiled or
 * checked by them ends in time.
 */
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { cut } from '../core/cut.ts';
import { DEEPEST_JSON, isTooDeep, type Json, type JsonObject } from '../core/json.ts';
import { OUTPUT_SCHEMA_BYTES, parseOutput, type OutputCheck, type OutputSchema } from '../core/run/output.ts';
import { faultAt, type Fault, type Path } from './fault.ts';
import { isJsonSchema } from './json-schema.ts';
import { problemText } from './problem-text.ts';
import { withinTime } from './within-time.ts';

/** How long a schema may take to compile, and an answer to be checked, in milliseconds. Nothing else runs meanwhile. */
const COMPILE_MS = 250;
const CHECK_MS = 100;

/** Problems told of one answer, and characters of each. */
const MOST_PROBLEMS = 20;
const LONGEST_PROBLEM = 300;

const OPTIONS: Options = {
  strict: false,
  // How many errors one check finds is limited by its time.
  allErrors: true,
  logger: false,
  // `isJsonSchema` has validated the schema before.
  validateSchema: false,
  meta: false,
  // Otherwise a small schema that refers to one part often becomes megabytes of code.
  inlineRefs: false,
  // Optimizing takes longer than it saves.
  code: { optimize: false },
};

/** What is wrong with the schema of a client. */
export function outputSchemaFaults(schema: OutputSchema | undefined, at: Path): Fault[] {
  if (schema === undefined || schema === false) return [];
  const problem = problemOf(schema);
  return problem === null ? [] : [faultAt(at, problem)];
}

function problemOf(schema: JsonObject): string | null {
  if (Buffer.byteLength(JSON.stringify(schema)) > OUTPUT_SCHEMA_BYTES)
    return `is larger than ${OUTPUT_SCHEMA_BYTES / 1024} KB of JSON`;
  if (isTooDeep(schema)) return `is nested deeper than ${DEEPEST_JSON} levels`;
  if (!isJsonSchema(schema)) return 'is not a valid JSON Schema (draft 2020-12 or 7)';
  const compiled = compile(schema);
  return compiled.ok ? null : compiled.problem;
}

type Compiled = { ok: true; validate: ValidateFunction } | { ok: false; isTimeout: boolean; problem: string };

/**
 * Compiled schemas by their text. The least recently used first. A failure is not remembered: the time may have been up
 * because the machine was busy.
 */
const KNOWN = new Map<string, Compiled & { ok: true }>();
const MOST_KNOWN = 200;

function compile(schema: JsonObject): Compiled {
  const text = JSON.stringify(schema);
  const compiled = KNOWN.get(text) ?? compileNew(schema);
  if (!compiled.ok) return compiled;
  KNOWN.delete(text);
  KNOWN.set(text, compiled);
  const [oldest] = KNOWN.keys();
  if (KNOWN.size > MOST_KNOWN && oldest !== undefined) KNOWN.delete(oldest);
  return compiled;
}

/** Without $schema: as draft 2020-12 or, if that fails, as draft 7. */
function compileNew({ $schema, ...schema }: JsonObject): Compiled {
  if (schema['$async'] !== undefined)
    return { ok: false, isTimeout: false, problem: 'has $async, which is not a keyword of JSON Schema' };
  const isOlder = typeof $schema === 'string' && $schema.includes('draft-07');
  const first = compileWith(isOlder ? Ajv : Ajv2020, schema);
  if (first.ok || first.isTimeout || $schema !== undefined) return first;
  const older = compileWith(Ajv, schema);
  return older.ok ? older : first;
}

function compileWith(Draft: typeof Ajv | typeof Ajv2020, schema: JsonObject): Compiled {
  try {
    const compiled = withinTime(COMPILE_MS, () => {
      const compiler = new Draft(OPTIONS);
      formats.default(compiler);
      return compiler.compile(schema);
    });
    if (compiled.ok) return { ok: true, validate: compiled.value };
    return { ok: false, isTimeout: true, problem: `takes longer than ${COMPILE_MS} ms to compile` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, isTimeout: false, problem: `cannot be compiled: ${shortened(reason)}` };
  }
}

/** Checks the text of an answer: JSON that matches the schema. */
export function checkOutput(schema: JsonObject, text: string): OutputCheck {
  const value = parseOutput(text);
  if (value === undefined) return differs([`the answer is not JSON, or not only JSON: ${quoted(text)}`]);
  if (isTooDeep(value)) return differs([`the answer is nested deeper than ${DEEPEST_JSON} levels`]);
  const compiled = compile(schema);
  return compiled.ok ? checkValue(compiled.validate, value) : unchecked(`the schema ${compiled.problem}`);
}

function checkValue(validate: ValidateFunction, value: Json): OutputCheck {
  try {
    const checked = withinTime(CHECK_MS, () => (validate(value) ? [] : (validate.errors ?? [])));
    if (!checked.ok) return unchecked(`the check took longer than ${CHECK_MS} ms`);
    return checked.value.length === 0 ? { ok: true } : differs(worded(checked.value));
  } catch (error) {
    // A schema that refers to itself without an end exceeds the stack.
    return unchecked(shortened(error instanceof Error ? error.message : String(error)));
  } finally {
    // The compiled schema is kept; its errors may be many.
    validate.errors = null;
  }
}

function differs(problems: string[]): OutputCheck {
  return { ok: false, isChecked: true, problems };
}

function unchecked(problem: string): OutputCheck {
  return { ok: false, isChecked: false, problems: [problem] };
}

function worded(errors: readonly ErrorObject[]): string[] {
  const shown = errors.slice(0, MOST_PROBLEMS).map((error) => shortened(problemText(error, 'the answer')));
  const left = errors.length - shown.length;
  return left === 0 ? shown : [...shown, `and ${left} more`];
}

const LONGEST_QUOTE = 60;

function quoted(text: string): string {
  const start = text.trim();
  if (start === '') return 'it has no text';
  return `it begins with ${JSON.stringify(start.length > LONGEST_QUOTE ? `${cut(start, LONGEST_QUOTE)}…` : start)}`;
}

function shortened(text: string): string {
  return text.length > LONGEST_PROBLEM ? `${cut(text, LONGEST_PROBLEM)}…` : text;
}
