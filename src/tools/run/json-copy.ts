/** Copies a value as a plain JSON object. Null: it is not an object or not JSON. */
import { isJsonObject, type JsonObject } from '../../core/json.ts';

export function jsonCopy(value: unknown): JsonObject | null {
  try {
    const copy: unknown = JSON.parse(JSON.stringify(value));
    return isJsonObject(copy) ? copy : null;
  } catch {
    return null;
  }
}
