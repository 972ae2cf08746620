/**
 * Arguments of a tool call. Models write JSON text that is sometimes invalid. Text that is not JSON, or is nested too
 * deeply, is kept as the raw string. Providers always require an object back, so any other value is wrapped in one.
 */
import { DEEPEST_JSON, isJsonObject, isTooDeep, type Json, type JsonObject } from '../../../core/json.ts';
import { parseJson } from '../answer/json.ts';

/** Empty text means no arguments. */
export function readArguments(text: string): Json {
  if (text.trim() === '') return {};
  return shallow(parseJson(text) ?? text, () => text);
}

/** For arguments that arrive already parsed. */
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
    // Nested deeper than the stack allows. The kept text is also too deep, so the tool runner parses it and reports
    // why the call was refused.
    return '['.repeat(2 * DEEPEST_JSON) + ']'.repeat(2 * DEEPEST_JSON);
  }
}

export function argumentsObject(input: Json): JsonObject {
  return isJsonObject(input) ? input : { malformed_arguments: input };
}

/**
 * Arguments as text. `raw` is the model's own text, used if it means the same: then prompts stay identical byte for
 * byte.
 */
export function argumentsText(input: Json, raw: string): string {
  const text = JSON.stringify(argumentsObject(input));
  if (raw === '' || typeof input === 'string') return text;
  const meant = parseJson(raw);
  return isJsonObject(meant) && JSON.stringify(meant) === text ? raw : text;
}
