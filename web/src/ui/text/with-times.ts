/** Replaces ISO timestamps in the status reason of the API by times of the chosen zone. */
import type { FormatTime } from './time-format.ts';

const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const DAY_MS = 86_400_000;

export function withTimes(why: string, format: FormatTime): string {
  return why.replaceAll(INSTANT, (instant) => {
    const at = Date.parse(instant);
    return format(at, Math.abs(at - Date.now()) < DAY_MS ? 'clock' : 'minute');
  });
}
