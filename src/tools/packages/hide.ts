/**
 * Hides the secrets of tool packages in texts. Each occurrence becomes `[secret NAME]`: of the value itself, and of the forms
 * that it has in JSON (also in JSON in JSON), in URLs and in base64, also of a longer text.
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
  const inJson = jsonOf(value);
  return new Set([
    value,
    inJson,
    jsonOf(inJson),
    // PHP escapes slashes.
    inJson.replaceAll('/', String.raw`\/`),
    encodeURIComponent(value.toWellFormed()),
    new URLSearchParams({ '': value }).toString().slice(1),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    ...[0, 1, 2].flatMap((before) => [within64(bytes, before, 'base64'), within64(bytes, before, 'base64url')]),
  ]);
}

function jsonOf(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * What is in base64 of a longer text, such as `user:password`, whatever stands beside it. `before`: the bytes before it,
 * modulo 3. The characters that have bits of other bytes too are left out.
 */
function within64(bytes: Buffer, before: number, encoding: 'base64' | 'base64url'): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString(encoding);
  return text.slice(Math.ceil((8 * before) / 6), Math.floor((8 * (before + bytes.length)) / 6));
}

/** Names of the secrets in the texts of a JSON value. Names of members are no texts. */
export function secretsIn(value: unknown, hide: Hide): string[] {
  const found = new Set<string>();
  const look = (part: unknown): void => {
    if (typeof part === 'object' && part !== null) Object.values(part).forEach(look);
    if (typeof part !== 'string' || hide(part) === part) return;
    for (const [, name = ''] of hide(part).matchAll(/\[secret (\w+)\]/g)) found.add(name);
  };
  look(value);
  return [...found];
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
