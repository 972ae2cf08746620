/** JSON values: tool inputs and results, and the provider data that is sent back verbatim. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
/** A JSON object. */
export type JsonObject = { [key: string]: Json };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Maximum nesting depth of accepted JSON; PostgreSQL's parser fails at a few thousand levels. */
export const DEEPEST_JSON = 100;

export function isTooDeep(value: Json): boolean {
  let level = [value].filter(isNest);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > DEEPEST_JSON) return true;
    level = level.flatMap((nest) => Object.values(nest).filter(isNest));
  }
  return false;
}

/** The characters of all texts in a value: a rough size, at a fraction of the cost of its JSON. */
export function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  for (const part of Object.values(value)) sum += charactersIn(part);
  return sum;
}

function isNest(value: Json): value is Json[] | JsonObject {
  return typeof value === 'object' && value !== null;
}
