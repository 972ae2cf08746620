/** Reads the answer of a library of the service: rows, or an object with rows. */

/** `unknown`: the answer has no such row. */
export type Place = { kind: 'found'; place: string } | { kind: 'none' } | { kind: 'unknown' };

export function readPlace(answer: unknown): Place {
  const rows: unknown = Array.isArray(answer) ? answer : Reflect.get(Object(answer), 'rows');
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  if (typeof row !== 'object' || row === null || !('place' in row)) return { kind: 'unknown' };
  if (row.place === null) return { kind: 'none' };
  return typeof row.place === 'string' ? { kind: 'found', place: row.place } : { kind: 'unknown' };
}
