/**
 * Ids as people type them: whole, or a part of six or more characters from the beginning or the end. Ids begin with the
 * time of their creation, so ids of the same minute begin alike: lists show the end.
 */

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PART = /^[0-9a-f-]{6,35}$/i;
const SHORT = 8;

export function isId(text: string): boolean {
  return ID.test(text);
}

/** Whether the text may be a part of an id. A name may look like one, too. */
export function isPartOfId(text: string): boolean {
  return PART.test(text);
}

/** Whether the id begins or ends with the part. */
export function hasPart(id: string, part: string): boolean {
  const typed = part.toLowerCase();
  return id.startsWith(typed) || id.endsWith(typed);
}

/** The end of each id, or the whole ids if two of them end alike. */
export function shortIds(ids: readonly string[]): readonly string[] {
  const short = ids.map((id) => (isId(id) ? id.slice(-SHORT) : id));
  return new Set(short).size === new Set(ids).size ? short : ids;
}
