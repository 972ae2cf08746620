/** Formats the start of a bucket, with the precision of the bucket size. */
const DAY_S = 86_400;

const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' });
const both = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** `short`: for axis labels. */
export function formatMoment(at: string, bucketS: number, length: 'short' | 'long'): string {
  const moment = Date.parse(at);
  if (Number.isNaN(moment)) return '';
  if (bucketS >= DAY_S) return day.format(moment);
  if (length === 'long') return both.format(moment);
  return bucketS >= 3_600 ? day.format(moment) : clock.format(moment);
}
