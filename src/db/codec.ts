/**
 * JSON to and from jsonb. Postgres refuses NUL and lone surrogates there, and tool output holds both: they are written
 * as a private-use mark and four hex digits, and so is the mark itself. What went in comes out.
 */
const MARK = '\uF8FE';
const NEEDS_MARK = /\\u0000|\\ud[89a-f]|\uF8FE/;
/** Every escape of a JSON text in full, so that an escaped backslash cannot be taken for the start of the next one. */
const ESCAPES = /\\(?:u(0000|d[89a-f][0-9a-f]{2})|[^])|\uF8FE/g;
const MARKED = /\uF8FE([0-9a-f]{4})/g;

/** Pattern of Postgres for what stands in stored text for a character that it cannot hold. */
export const STORED_MARK = `${MARK}[0-9a-f]{4}`;

/** JSON text that jsonb takes. `JSON.stringify` escapes lone surrogates and leaves pairs alone. */
export function encodeJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!NEEDS_MARK.test(text)) return text;
  return text.replace(ESCAPES, (escape: string, code: string | undefined) => {
    if (escape === MARK) return `${MARK}f8fe`;
    return code === undefined ? escape : `${MARK}${code}`;
  });
}

/** The value of a jsonb text as the driver reads it. */
export function decodeJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return text.includes(MARK) ? unmark(value) : value;
}

function unmark(value: unknown): unknown {
  if (typeof value === 'string') return unmarkText(value);
  if (Array.isArray(value)) return value.map(unmark);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [unmarkText(key), unmark(member)]));
}

function unmarkText(text: string): string {
  return text.replace(MARKED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** Text for a text column that is to come out as it went in. */
export function encodeText(text: string): string {
  return text.replace(
    /[\0\uF8FE]|\p{Cs}/gu,
    (char) => MARK + char.charCodeAt(0).toString(16).padStart(4, '0'),
  );
}

export function decodeText(text: string): string {
  return unmarkText(text);
}

/** For text columns that hold what others wrote: Postgres refuses NUL there. */
export function plainText(text: string): string {
  return text.replaceAll('\0', '\u{FFFD}');
}
