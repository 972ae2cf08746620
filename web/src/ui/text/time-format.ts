/** How times are written: `Nov 28, 2026`, with 24 hours, in the zone that the user chose. */
import { useZone, type Zone } from '../state/zone.ts';

const STYLES = {
  /** Nov 28, 2026, 18:04:05 UTC */
  exact: { dateStyle: 'medium', timeStyle: 'long' },
  /** Nov 28, 2026, 18:04:05 */
  second: { dateStyle: 'medium', timeStyle: 'medium' },
  /** Nov 28, 2026, 18:04 */
  minute: { dateStyle: 'medium', timeStyle: 'short' },
  /** Nov 28, 2026 */
  day: { dateStyle: 'medium' },
  /** 18:04:05 */
  clock: { timeStyle: 'medium' },
  /** 18:04 */
  shortClock: { timeStyle: 'short' },
  /** For axes: Nov 28, 18:04; Nov 28 */
  axis: { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
  axisDay: { month: 'short', day: 'numeric' },
} as const satisfies { [style: string]: Intl.DateTimeFormatOptions };

export type TimeStyle = keyof typeof STYLES;
/** `at`: milliseconds since 1970. */
export type FormatTime = (at: number, style: TimeStyle) => string;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatIn(zone: Zone): FormatTime {
  return (at, style) => {
    const key = `${zone} ${style}`;
    const known = formats.get(key);
    const format =
      known ??
      new Intl.DateTimeFormat('en', {
        ...STYLES[style],
        hourCycle: 'h23',
        ...(zone === 'utc' ? { timeZone: 'UTC' } : {}),
      });
    if (known === undefined) formats.set(key, format);
    return format.format(at);
  };
}

const IN_ZONE: Readonly<Record<Zone, FormatTime>> = { local: formatIn('local'), utc: formatIn('utc') };

export function useTimeFormat(): FormatTime {
  const [zone] = useZone();
  return IN_ZONE[zone];
}
