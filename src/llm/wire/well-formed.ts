/**
 * Lone surrogates survive in our store, but providers refuse a request that holds one ("no low surrogate in string"), and
 * a history with one in it would be refused for ever. On the way out each becomes U+FFFD; all else is left as it is.
 */
import type { ModelRequest } from '../../core/model.ts';
import type { PromptMessage } from '../../core/prompt.ts';
import { memoize } from '../../core/memoize.ts';

/** Messages never change: each is looked at once. */
export function wellFormedRequest({ messages, ...rest }: ModelRequest): ModelRequest {
  return { ...wellFormed(rest), messages: messages.map(wellFormedMessage) };
}

const wellFormedMessage = memoize(wellFormed<PromptMessage>);

/** The same shape, and the same value where there was nothing to mend. */
export function wellFormed<T>(value: T): T {
  // What comes back differs from `value` in the characters of its strings only.
  return isWellFormed(value) ? value : (mended(value) as T);
}

/** Makes nothing. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  for (const key of Object.keys(value)) {
    if (!key.isWellFormed() || !isWellFormed(Reflect.get(value, key))) return false;
  }
  return true;
}

function mended(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(mended);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const entries = Object.entries(value).map(([key, member]) => [key.toWellFormed(), mended(member)] as const);
  const same = entries.every(([key, member]) => Reflect.get(value, key) === member);
  return same ? value : Object.fromEntries(entries);
}
