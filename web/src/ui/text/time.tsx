/** Formats times and durations. */
import { useNow } from '../state/clock.ts';
import { durationWords } from '../../words.ts';
import { useTimeFormat, type TimeStyle } from './time-format.ts';

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' });
const MONTH_MS = 30 * 86_400_000;

/** A time in the chosen zone; the title has it exactly. `at`: ISO 8601. */
export function Time({ at, as }: { at: string; as: TimeStyle }) {
  const format = useTimeFormat();
  const moment = Date.parse(at);
  return (
    <time dateTime={at} title={format(moment, 'exact')}>
      {format(moment, as)}
    </time>
  );
}

/** Relative time of an ISO 8601 timestamp; the title has the exact time. */
export function RelativeTime({ at }: { at: string }) {
  const now = useNow(10_000);
  const format = useTimeFormat();
  const moment = Date.parse(at);
  return (
    <time dateTime={at} title={format(moment, 'exact')}>
      {formatRelative(moment - now)}
    </time>
  );

  function formatRelative(ms: number): string {
    if (Math.abs(ms) > MONTH_MS) return format(moment, 'day');
    const found = UNITS.find(([, length]) => Math.abs(ms) >= length);
    if (found === undefined) return ms > 10_000 ? durationWords.inSeconds : durationWords.justNow;
    return relative.format(Math.trunc(ms / found[1]), found[0]);
  }
}

const DAY_MS = 86_400_000;

/** 14:32, and the day if it is not of the last 24 hours; the title has the exact time. */
export function ClockTime({ at }: { at: string }) {
  const now = useNow(60_000);
  return <Time at={at} as={Math.abs(now - Date.parse(at)) < DAY_MS ? 'shortClock' : 'minute'} />;
}

/** Duration between two timestamps; without `to` it counts up. */
export function Duration({ from, to }: { from: string; to: string | null }) {
  return to === null ? <Running from={from} /> : <>{formatDuration(Date.parse(to) - Date.parse(from))}</>;
}

function Running({ from }: { from: string }) {
  return <>{formatDuration(useNow() - Date.parse(from))}</>;
}

/** 840 ms, 4.2 s, 3 min 12 s, 2 h 5 min, 3 d 4 h. */
export function formatDuration(ms: number): string {
  if (ms < 0) return durationWords.seconds(0);
  if (ms < 1000) return durationWords.milliseconds(Math.round(ms));
  const seconds = ms / 1000;
  if (seconds < 60) return durationWords.seconds(seconds < 10 ? seconds.toFixed(1) : Math.floor(seconds));
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return durationWords.minutes(minutes, Math.floor(seconds % 60));
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? durationWords.hours(hours, minutes % 60) : durationWords.days(Math.floor(hours / 24), hours % 24);
}
