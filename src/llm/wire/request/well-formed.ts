/**
 * Lone surrogates are kept in the database, but providers refuse a request that contains one ("no low surrogate in
 * string"), so the history would be refused for ever. In requests each becomes U+FFFD; everything else stays
 * unchanged.
 */
import type { ModelRequest } from '../../../core/model/model.ts';
import type { PromptMessage } from '../../../core/conversation/prompt.ts';
import { memoize } from '../../../core/memoize.ts';

/** Messages never change: each is checked once. */
export function wellFormedRequest({ messages, ...rest }: ModelRequest): ModelRequest {
  return { ...wellFormed(rest), messages: messages.map(wellFormedMessage) };
}

const wellFormedMessage = memoize(wellFormed<PromptMessage>);

/** The same shape; the same object if nothing had to be replaced. */
export function wellFormed<T>(value: T): T {
  // The result differs from `value` only in the characters of its strings.
  return isWellFormed(value) ? value : (mended(value) as T);
}

/** Checks without allocating. */
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
