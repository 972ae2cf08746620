/** Converts calendar days to timestamps. */

export const OWN_TIMEZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The zone of a day: the browser's, or UTC. */
export type Zone = 'local' | 'utc';

/** From the start of the first day to the end of the last day. An invalid day sets no limit. */
export function spanOf(
  from: string | undefined,
  to: string | undefined,
  zone: Zone,
): { created_after?: string; created_before?: string } {
  const begin = momentOf(from, 0, zone);
  const end = momentOf(to, 1, zone);
  return {
    ...(begin === null ? {} : { created_after: begin }),
    ...(end === null ? {} : { created_before: end }),
  };
}

type Moving = { within_ms?: number; created_after?: string };

/** A filter as of now: a range that moves with the time gets its start. */
export function asOfNow<Filter extends Moving>({ within_ms: within, ...rest }: Filter): Omit<Filter, 'within_ms'> {
  return within === undefined ? rest : { ...rest, created_after: new Date(Date.now() - within).toISOString() };
}

/** The day of a time, in milliseconds, or so many days before it. */
export function dayOf(time: number, back: number, zone: Zone): string {
  const moment = new Date(time);
  const parts =
    zone === 'utc'
      ? ([moment.getUTCFullYear(), moment.getUTCMonth(), moment.getUTCDate() - back] as const)
      : ([moment.getFullYear(), moment.getMonth(), moment.getDate() - back] as const);
  return new Date(Date.UTC(...parts)).toISOString().slice(0, 10);
}

/** The start of a day; null: it is not valid. */
export function startOf(day: string, zone: Zone): string | null {
  return momentOf(day, 0, zone);
}

/** The end of a day in the browser's zone; null: it is not valid. */
export function endOf(day: string): string | null {
  return momentOf(day, 1, 'local');
}

/** `more`: number of days to add. */
function momentOf(day: string | undefined, more: number, zone: Zone): string | null {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? '') ?? [];
  if (year === undefined) return null;
  const parts = [Number(year), Number(month) - 1, Number(date) + more] as const;
  const moment = zone === 'utc' ? new Date(Date.UTC(...parts)) : new Date(...parts);
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString();
}
