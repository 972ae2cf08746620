/**
 * Hides the secrets of tool packages in texts. Each occurrence becomes `[secret NAME]`: of the value itself, and of the forms
 * that it has in JSON, in URLs and in base64.
 */
import type { Secret } from './secrets.ts';

export type Hide = (text: string) => string;

/** There is nothing to hide. */
export const AS_IT_IS: Hide = (text) => text;

/** Objects in objects. What is deeper than any JSON that is kept is not followed. */
const DEEPEST = 100;

export function hideOf(secrets: readonly Secret[]): Hide {
  const names = new Map<string, string>();
  for (const { name, value } of secrets) for (const form of formsOf(value)) if (!names.has(form)) names.set(form, name);
  if (names.size === 0) return AS_IT_IS;
  // One form may contain another: the longest comes first.
  const forms = [...names.keys()].sort((one, other) => other.length - one.length);
  const pattern = new RegExp(forms.map(escaped).join('|'), 'g');
  return (text) => text.replace(pattern, (form) => `[secret ${names.get(form)}]`);
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

/** The line end of a file is no part of what a program sends. */
function formsOf(written: string): Set<string> {
  const value = written.trim();
  const bytes = Buffer.from(value);
  return new Set([
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
    new URLSearchParams({ '': value }).toString().slice(1),
    bytes.toString('base64'),
    bytes.toString('base64url'),
  ]);
}

/** The same value without secrets: all texts and names in lists and plain objects. Other objects are not changed. */
export function hiddenIn<T>(value: T, hide: Hide): T;
export function hiddenIn(value: unknown, hide: Hide): unknown {
  return within(value, hide, 0);
}

function within(value: unknown, hide: Hide, depth: number): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value === 'number') return hide(String(value)) === String(value) ? value : hide(String(value));
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => within(item, hide, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [hide(name), within(member, hide, depth + 1)]),
  );
}
