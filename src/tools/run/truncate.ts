/**
 * Truncates text to a number of UTF-16 units, never within a surrogate pair. Already invalid text (a lone surrogate, a
 * NUL) is not changed.
 */

/** The longest prefix of `text` within the limit; `text` itself if it fits. */
export function headOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // A code point of two units that starts at the last place is left out.
  const splitsPair = (text.codePointAt(limit - 1) ?? 0) > 0xffff;
  return copied(text.slice(0, splitsPair ? limit - 1 : limit));
}

/** `text`, or its prefix and a note of how much is missing. The note is not counted in the limit. */
export function truncate(text: string, limit: number): string {
  const head = headOf(text, limit);
  return head === text ? text : `${head}\n${cutNote(text.length - head.length, text.length)}`;
}

export function cutNote(missing: number, total: number): string {
  return `[Truncated: ${missing} of ${total} characters were omitted.]`;
}

/** A slice keeps the whole string in memory as long as the run; a copy does not. */
function copied(slice: string): string {
  return Buffer.from(slice, 'utf16le').toString('utf16le');
}
