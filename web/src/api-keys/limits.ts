/** The limits of an API key: as written in its form, and in words. */
import type { ApiKey, CreateApiKey } from 'nightshift/client';

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
  return /^\d*$/.test(text.trim()) ? null : 'Enter a whole number, or nothing.';
}

/** Null: there are none. */
export function limitsText({
  requests_per_s: perSecond,
  concurrent_requests: atOnce,
}: ApiKey['limits']): string | null {
  const texts = [
    ...(perSecond === null ? [] : [`${perSecond} requests per second`]),
    ...(atOnce === null ? [] : [`${atOnce} concurrent requests`]),
  ];
  return texts.length === 0 ? null : `At most ${texts.join(', ')}`;
}
