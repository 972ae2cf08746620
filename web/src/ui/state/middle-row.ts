/** Which row of the shown list the user looks at. Rows carry their id in `data-row`. */

/** The row next to the middle of the window; null: no list is shown. */
export function middleRow(): string | null {
  const middle = globalThis.innerHeight / 2;
  let nearest: { id: string; distance: number } | null = null;
  for (const row of document.querySelectorAll<HTMLElement>('[data-row]')) {
    const { top, bottom } = row.getBoundingClientRect();
    const distance = Math.max(top - middle, middle - bottom);
    if (nearest === null || distance < nearest.distance) nearest = { id: row.dataset['row'] ?? '', distance };
  }
  return nearest?.id ?? null;
}
