/** What a query holds beside plain words: lists, with commas between the words, and JSON. */
import type { FastifyRequest } from 'fastify';
import { refuse } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import { RequestRefused } from './problem.ts';

/** Before a query is validated: makes a list of a parameter that holds a comma. */
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

/** Null where nothing was given. Refuses what is no JSON object. */
export function parseObject(text: string | undefined, param: string): JsonObject | null {
  if (text === undefined) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Told below.
  }
  throw new RequestRefused(refuse('invalid_request', `${param} must be a JSON object.`, param));
}
