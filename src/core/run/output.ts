/**
 * Structured answers: the final answer of a job is JSON that must match a schema. An answer that does not is followed by
 * a note with its faults, and the model is asked again; after too many of them the job fails.
 */
import type { JobError } from '../errors.ts';
import type { Json, JsonObject } from '../json.ts';
import type { ModelMeta } from '../conversation/message.ts';

/** A JSON Schema, or `false`: any text, whatever the role or the config says. */
export type OutputSchema = JsonObject | false;

/** The largest schema, in bytes of JSON. */
export const OUTPUT_SCHEMA_BYTES = 32 * 1024;

/** How often the model is asked again after an answer that does not match. */
export const OUTPUT_RETRIES = { default: 2, most: 5 } as const;

/** What the final answer must match. */
export type Output = { schema: JsonObject; retries: number };

/**
 * `problems`: what is wrong with the text, each as a sentence part for the model. `isChecked: false`: the check itself
 * failed, which another answer would not change; `problems` say why.
 */
export type OutputCheck = { ok: true } | { ok: false; isChecked: boolean; problems: string[] };

/** Checks the text of an answer. Bounded in time, whatever the schema is. */
export type CheckOutput = (schema: JsonObject, text: string) => OutputCheck;

/** Of the settings of a worker. */
export type OutputSettings = { outputSchema: JsonObject | null; outputRetries: number };

type ConfiguredOutput = { output_schema?: OutputSchema; output_retries?: number };

export function outputSettings({ output_schema, output_retries }: ConfiguredOutput): OutputSettings {
  return { outputSchema: output_schema || null, outputRetries: output_retries ?? OUTPUT_RETRIES.default };
}

/** The schema for a job: that of its input, or else that of the worker's settings. Null: any text. */
export function schemaFor(
  { outputSchema: own }: { outputSchema: OutputSchema | null },
  { outputSchema }: Pick<OutputSettings, 'outputSchema'>,
): JsonObject | null {
  return own === null ? outputSchema : own || null;
}

/** The settings with the schema for a job. */
export function settingsFor<Of extends OutputSettings>(job: { outputSchema: OutputSchema | null }, settings: Of): Of {
  return { ...settings, outputSchema: schemaFor(job, settings) };
}

export function outputFor(job: { outputSchema: OutputSchema | null }, settings: OutputSettings): Output | null {
  const schema = schemaFor(job, settings);
  return schema === null ? null : { schema, retries: settings.outputRetries };
}

/** A final answer, and how often the model was asked again before it. */
type FinalAnswer = {
  text: string;
  finishReason: ModelMeta['finishReason'] | null;
  corrections: number;
};

/** `note`: for the model, and for people who read the conversation. */
export type JudgedOutput =
  | { kind: 'matches' }
  | { kind: 'ask_again'; note: string }
  | { kind: 'failed'; note: string; error: JobError & { code: 'output_invalid' } };

export function judgeOutput(
  { schema, retries }: Output,
  { text, finishReason, corrections }: FinalAnswer,
  check: CheckOutput,
): JudgedOutput {
  const checked = check(schema, text);
  if (checked.ok) return { kind: 'matches' };
  const isRefusal = finishReason === 'refusal';
  const problems = [...reasons(finishReason), ...checked.problems].join('; ');
  const fault = checked.isChecked ? 'does not match' : 'could not be checked against';
  const faults = `This answer ${fault} the JSON Schema of the job: ${problems}.`;
  if (checked.isChecked && !isRefusal && corrections < retries) {
    return { kind: 'ask_again', note: `${faults} Answer again, with the complete JSON and no other text.` };
  }
  const times =
    corrections === 0 ? '' : ` The model was asked again ${corrections === 1 ? 'once' : `${corrections} times`}.`;
  const message = `The answer ${fault} output_schema: ${problems}.${times}`;
  return { kind: 'failed', note: faults, error: { code: 'output_invalid', message } };
}

function reasons(finishReason: string | null): string[] {
  if (finishReason === 'refusal') return ['the model refused to answer'];
  return finishReason === 'max_tokens' ? ['it was cut off at max_tokens'] : [];
}

/** The text as JSON; undefined: it is not JSON. A single fenced block that holds all of it is taken as its content. */
export function parseOutput(text: string): Json | undefined {
  const [, fenced] = FENCE.exec(text.trim()) ?? [];
  try {
    return JSON.parse(fenced ?? text) as Json;
  } catch {
    return undefined;
  }
}

const FENCE = /^```(?:json)?[ \t]*\r?\n([^]*?)\r?\n?```$/i;
