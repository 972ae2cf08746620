/**
 * Arguments of a tool call. Models write JSON text, and sometimes not quite; what is no JSON, or nested too deep, is kept as the
 * raw string.
 * Providers want an object back, always: whatever else was kept is wrapped in one.
 */
import { DEEPEST_JSON, isJsonObject, isTooDeep } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { parseJson } from './json.ts';

/** No text at all means no arguments. */
export function readArguments(text: string): Json {
  if (text.trim() === '') return {};
  return shallow(parseJson(text) ?? text, () => text);
}

/** Where they came parsed. */
export function readInput(input: Json): Json {
  return shallow(input, () => textOf(input));
}

function shallow(input: Json, text: () => string): Json {
  return isTooDeep(input) ? text() : input;
}

function textOf(input: Json): string {
  try {
    return JSON.stringify(input);
  } catch {
    // Deeper than the stack. The tool runner parses what is kept, to say why the call was refused.
    return '['.repeat(2 * DEEPEST_JSON) + ']'.repeat(2 * DEEPEST_JSON);
  }
}

export function argumentsObject(input: Json): JsonObject {
  return isJsonObject(input) ? input : { malformed_arguments: input };
}

/** As text. `raw` is how the model wrote it, preferred where it says the same: prompts stay the same to the letter. */
export function argumentsText(input: Json, raw: string): string {
  const text = JSON.stringify(argumentsObject(input));
  if (raw === '' || typeof input === 'string') return text;
  const meant = parseJson(raw);
  return isJsonObject(meant) && JSON.stringify(meant) === text ? raw : text;
}
