/** Converts calendar days of the browser's time zone to timestamps. */

export const OWN_TIMEZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** From the start of the first day to the end of the last day. An invalid day sets no limit. */
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

/** The end of a day; null: it is not valid. */
export function endOf(day: string): string | null {
  return momentOf(day, 1);
}

/** `more`: number of days to add. */
function momentOf(day: string | undefined, more: number): string | null {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? '') ?? [];
  if (year === undefined) return null;
  const moment = new Date(Number(year), Number(month) - 1, Number(date) + more);
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString();
}
