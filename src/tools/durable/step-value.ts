/** The result of a step, as it is stored: what JSON keeps of it. */
import { DEEPEST_JSON, isTooDeep, type Json } from '../../core/json.ts';
import type { StoredStep } from '../../core/tools/steps.ts';
import { ToolError } from '../run/tool-error.ts';

/** `undefined` becomes null. Throws `ToolError`: JSON cannot express it. */
export function stepValue(name: string, returned: unknown): StoredStep {
  const text = textOf(name, returned ?? null);
  const value: Json = JSON.parse(text);
  if (isTooDeep(value)) throw invalid(name, `it is nested deeper than ${DEEPEST_JSON} levels`);
  return { value, bytes: Buffer.byteLength(text) };
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

function invalid(name: string, why: string): ToolError {
  const message = `The step ${JSON.stringify(name)} returned a value that JSON cannot express: ${why}.`;
  return new ToolError(message, { code: 'step_result_invalid' });
}
