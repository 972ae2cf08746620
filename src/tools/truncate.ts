/**
 * Cuts text to a limit of UTF-16 units, never between the halves of a surrogate pair. What is already broken (a lone
 * surrogate, a NUL) passes through as it is.
 */

/** The longest head of `text` that fits; `text` itself where it does. */
export function headOf(text: string, limit: number): string {
  return text.length <= limit ? text : copied(text.slice(0, splitsPair(text, limit) ? limit - 1 : limit));
}

/** `text`, or its head and a note of how much is missing. The note comes on top of the limit. */
export function truncate(text: string, limit: number): string {
  const head = headOf(text, limit);
  return head === text ? text : `${head}\n${cutNote(text.length - head.length, text.length)}`;
}

export function cutNote(missing: number, total: number): string {
  return `[Cut here: ${missing} of ${total} characters were left out.]`;
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

/** A slice keeps the whole string in memory, and history lives as long as its run: a copy does not. */
function copied(slice: string): string {
  return Buffer.from(slice, 'utf16le').toString('utf16le');
}
