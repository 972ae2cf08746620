/** A copy that is a JSON object and nothing else; null for what is none, or cannot be written as one. */
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';

export function jsonCopy(value: unknown): JsonObject | null {
  try {
    const copy: unknown = JSON.parse(JSON.stringify(value));
    return isJsonObject(copy) ? copy : null;
  } catch {
    return null;
  }
}
