/** Days as people choose them, in moments of their own time zone. */

/** From the beginning of the one day to the end of the other; what is no day is left out. */
export function spanOf(
  from: string | undefined,
  to: string | undefined,
): { created_after?: string; created_before?: string } {
  const begin = momentOf(from, 0);
  const end = momentOf(to, 1);
  return {
    ...(begin === null ? {} : { created_after: begin }),
    ...(end === null ? {} : { created_before: end }),
  };
}

/** `more`: so many days later. */
function momentOf(day: string | undefined, more: number): string | null {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? '') ?? [];
  if (year === undefined) return null;
  const moment = new Date(Number(year), Number(month) - 1, Number(date) + more);
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString();
}
