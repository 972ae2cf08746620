/** Reads JSON from outside: every value is checked before use, and nothing here throws. */
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.ts';

/** `undefined` if the text is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export function stringIn(value: Json | undefined, key: string): string {
  const member = isJsonObject(value) ? value[key] : undefined;
  return typeof member === 'string' ? member : '';
}

export function numberIn(value: Json | undefined, key: string): number | null {
  const member = isJsonObject(value) ? value[key] : undefined;
  return typeof member === 'number' && Number.isFinite(member) ? member : null;
}

const MOST = 2 ** 31 - 1;

/** A count as an integer that fits its column; 0 if missing or negative. */
export function countIn(value: Json | undefined, key: string): number {
  return Math.min(MOST, Math.max(0, Math.round(numberIn(value, key) ?? 0)));
}

export function objectIn(value: Json | undefined, key: string): JsonObject {
  const member = isJsonObject(value) ? value[key] : undefined;
  return isJsonObject(member) ? member : {};
}

/** The objects of a list; empty if the value is not a list. */
export function objectsIn(value: Json | undefined, key: string): JsonObject[] {
  const member = isJsonObject(value) ? value[key] : undefined;
  return Array.isArray(member) ? member.filter(isJsonObject) : [];
}

export function without(value: JsonObject, ...keys: string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}
