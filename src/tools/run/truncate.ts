/**
 * Truncates text to a number of UTF-16 units, never within a surrogate pair. Already invalid text (a lone surrogate, a
 * NUL) is not changed.
 */

/** The longest prefix of `text` within the limit; `text` itself if it fits. */
export function headOf(text: string, limit: number): string {
  return text.length <= limit ? text : copied(text.slice(0, splitsPair(text, limit) ? limit - 1 : limit));
}

/** `text`, or its prefix and a note of how much is missing. The note is not counted in the limit. */
export function truncate(text: string, limit: number): string {
  const head = headOf(text, limit);
  return head === text ? text : `${head}\n${cutNote(text.length - head.length, text.length)}`;
}

export function cutNote(missing: number, total: number): string {
  return `[Truncated: ${missing} of ${total} characters were omitted.]`;
}

function splitsPair(text: string, at: number): boolean {
  return at > 0 && isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** A slice keeps the whole string in memory as long as the run; a copy does not. */
function copied(slice: string): string {
  return Buffer.from(slice, 'utf16le').toString('utf16le');
}
