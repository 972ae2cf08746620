/** JSON values: tool inputs and results, and the provider data that is sent back verbatim. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
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

function isNest(value: Json): value is Json[] | JsonObject {
  return typeof value === 'object' && value !== null;
}
