/** The result of a step, as it is stored: what JSON keeps of it. */
import { DEEPEST_JSON, isTooDeep, type Json } from '../../core/json.ts';
import type { StoredStep } from '../../core/tools/steps.ts';
import { ToolError } from '../run/tool-error.ts';

/** Bytes of JSON of a step, and of all steps of a call. */
const MOST_STEP_BYTES = 1024 * 1024;
export const MOST_BYTES = 4 * 1024 * 1024;

/** `undefined` becomes null. Throws `ToolError`: JSON cannot express it, or it is too large for a step. */
export function stepValue(name: string, returned: unknown): StoredStep {
  const text = textOf(name, returned ?? null);
  const bytes = Buffer.byteLength(text);
  if (bytes > MOST_STEP_BYTES) throw tooLarge(name, bytes);
  const value: Json = JSON.parse(text);
  if (isTooDeep(value)) throw invalid(name, `it is nested deeper than ${DEEPEST_JSON} levels`);
  return { value, bytes };
}

function textOf(name: string, returned: unknown): string {
  try {
    // `stringify` returns undefined for functions and symbols, contrary to its type.
    const text: string | undefined = JSON.stringify(returned);
    if (text !== undefined) return text;
  } catch (error) {
    throw invalid(name, error instanceof Error ? error.message : String(error));
  }
  throw invalid(name, `it is a ${typeof returned}`);
}

export function tooLarge(name: string, bytes: number): ToolError {
  const message = `The step ${JSON.stringify(name)} returned ${bytes} bytes of JSON. A step may store ${MOST_STEP_BYTES}, and all steps of a call ${MOST_BYTES}. Return a reference, such as an id, instead.`;
  return new ToolError(message, { code: 'step_result_too_large' });
}

function invalid(name: string, why: string): ToolError {
  const message = `The step ${JSON.stringify(name)} returned a value that JSON cannot express: ${why}.`;
  return new ToolError(message, { code: 'step_result_invalid' });
}
