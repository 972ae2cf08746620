/** Which row a held list begins with. */

/** The list that is held, and the newest row that it shows. */
export type Top = { list: string; id: string };

/** Null: the list is not held. A list is held from its own first row on, and without a row not yet. */
export function nextTop(top: Top | null, list: string, rows: readonly { id: string }[], isHeld: boolean): Top | null {
  if (!isHeld) return null;
  if (top?.list === list) return top;
  const [first] = rows;
  return first === undefined ? null : { list, id: first.id };
}
