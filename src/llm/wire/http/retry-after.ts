/** How long a provider asks clients to wait: `retry-after-ms`, or `retry-after` in seconds or as a date. */

/** Milliseconds, at least 0; null if there is no readable value. */
export function readRetryAfter(headers: Headers, now: number): number | null {
  const millis = decimal(headers.get('retry-after-ms'));
  if (millis !== null) return millis;
  const value = headers.get('retry-after');
  if (value === null) return null;
  const seconds = decimal(value);
  if (seconds !== null) return Math.ceil(seconds * 1_000);
  const at = /\d:\d/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) return null;
  // The date is by the provider's clock, so it is compared with the `date` header of the same answer.
  const theirs = Date.parse(headers.get('date') ?? '');
  return Math.max(0, at - (Number.isNaN(theirs) ? now : theirs));
}

function decimal(text: string | null): number | null {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}
