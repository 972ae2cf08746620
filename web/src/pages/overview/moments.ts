/** Formats the start of a bucket, with the precision of the bucket size. */
import type { FormatTime } from '../../ui/text/time-format.ts';

const DAY_S = 86_400;

/** `short`: for axis labels. */
export function formatMoment(at: string, bucketS: number, length: 'short' | 'long', format: FormatTime): string {
  const moment = Date.parse(at);
  if (Number.isNaN(moment)) return '';
  if (bucketS >= DAY_S) return format(moment, 'axisDay');
  if (length === 'long') return format(moment, 'axis');
  return format(moment, bucketS >= 3_600 ? 'axisDay' : 'shortClock');
}
