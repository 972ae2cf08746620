/**
 * Makes untrusted text safe for a terminal. Characters that could control it (escape sequences, other control
 * characters, bidirectional marks) are replaced or removed. Newlines and tabs stay.
 */

const STEERING = /[\p{Cc}\p{Bidi_Control}]/gu;

export function safe(text: string): string {
  return text.replaceAll(STEERING, harmless);
}

function harmless(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (character === '\n' || character === '\t') return character;
  if (character === '\r' || code > 0x9f) return '';
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '␡' : '\uFFFD';
}

/** The same, on one line. */
export function oneLine(text: string): string {
  return safe(text.replaceAll(/\s+/g, ' ').trim());
}

/** JSON that is safe for a terminal: control characters that JSON leaves unescaped are escaped. */
export function safeJson(value: unknown, space = 0): string {
  return JSON.stringify(value, null, space).replaceAll(STEERING, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
