/** Query parameters that are lists (separated by commas) or JSON. */
import type { FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { invalid } from '../response/problem.ts';

/** Runs before validation: splits parameters that have a comma into lists. */
export function splitLists(...names: readonly string[]) {
  return async ({ query }: FastifyRequest): Promise<void> => {
    if (typeof query !== 'object' || query === null) return;
    for (const [name, value] of Object.entries(query)) {
      if (names.includes(name) && typeof value === 'string' && value.includes(',')) {
        Object.assign(query, { [name]: value.split(',') });
      }
    }
  };
}

/** Null where nothing was given. Refuses everything but a JSON object. */
export function parseObject(text: string | undefined, param: string): JsonObject | null {
  if (text === undefined) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Refused below.
  }
  throw invalid(`${param} is not a JSON object. Write it like {"key":"value"}.`, param);
}
