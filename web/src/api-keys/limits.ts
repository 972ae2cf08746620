/** The limits of an API key: as written in its form, and in words. */
import type { ApiKey, CreateApiKey } from 'nightshift/client';
import { apiKeysWords, usageWords } from '../words.ts';

export type LimitName = keyof ApiKey['limits'];

/** Numbers as text; empty: none. */
export type LimitDraft = Readonly<Record<LimitName, string>>;

export const NO_LIMITS: LimitDraft = { requests_per_s: '', concurrent_requests: '' };

export const LIMIT_NAMES: readonly LimitName[] = ['requests_per_s', 'concurrent_requests'];

/** Null: something that is written is no number. */
export function limitsIn(draft: LimitDraft): NonNullable<CreateApiKey['limits']> | null {
  const written = LIMIT_NAMES.filter((name) => draft[name].trim() !== '');
  if (written.some((name) => faultIn(draft[name]) !== null)) return null;
  return Object.fromEntries(written.map((name) => [name, Number(draft[name].trim())]));
}

export function faultIn(text: string): string | null {
  return /^\d*$/.test(text.trim()) ? null : usageWords.wholeNumberFault;
}

/** Null: there are none. */
export function limitsText(limits: ApiKey['limits']): string | null {
  const { of, atMost } = apiKeysWords.limits;
  const texts = LIMIT_NAMES.flatMap((name) => (limits[name] === null ? [] : [of[name].value(limits[name])]));
  return texts.length === 0 ? null : atMost(texts);
}
