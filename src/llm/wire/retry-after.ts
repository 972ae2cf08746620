/** How long a provider asks us to wait: `retry-after-ms`, or `retry-after` in seconds or as a date. */

/** Milliseconds, never negative; null where nothing was said that can be read. */
export function readRetryAfter(headers: Headers, now: number): number | null {
  const millis = decimal(headers.get('retry-after-ms'));
  if (millis !== null) return millis;
  const value = headers.get('retry-after');
  if (value === null) return null;
  const seconds = decimal(value);
  if (seconds !== null) return Math.ceil(seconds * 1_000);
  const at = /\d:\d/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) return null;
  // A date is by the provider's clock, which its own answer tells.
  const theirs = Date.parse(headers.get('date') ?? '');
  return Math.max(0, at - (Number.isNaN(theirs) ? now : theirs));
}

function decimal(text: string | null): number | null {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}
