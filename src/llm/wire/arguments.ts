/**
 * Arguments of a tool call. Models write JSON text, and sometimes not quite; what is no JSON is kept as the raw string.
 * Providers want an object back, always: whatever else was kept is wrapped in one.
 */
import { isJsonObject } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { parseJson } from './json.ts';

/** No text at all means no arguments. */
export function readArguments(text: string): Json {
  if (text.trim() === '') return {};
  return parseJson(text) ?? text;
}

export function argumentsObject(input: Json): JsonObject {
  return isJsonObject(input) ? input : { malformed_arguments: input };
}

/** As text. `raw` is how the model wrote it, preferred where it says the same: prompts stay the same to the letter. */
export function argumentsText(input: Json, raw: string): string {
  const text = JSON.stringify(argumentsObject(input));
  if (raw === '') return text;
  const meant = parseJson(raw);
  return isJsonObject(meant) && JSON.stringify(meant) === text ? raw : text;
}
