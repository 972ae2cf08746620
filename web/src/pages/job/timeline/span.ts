/** The time span that the chart shows: zoom, move, and ticks. */
import { durationWords, timelineWords } from '../../../words.ts';

const words = timelineWords.chart;

export type Span = { from: number; to: number };

/** Minimum width of the span. */
const NARROWEST_MS = 20;

/** `by` 2: half the width around the middle. The result stays within `whole`. */
export function zoom(span: Span, by: number, whole: Span): Span {
  const width = Math.max(NARROWEST_MS, (span.to - span.from) / by);
  const middle = (span.from + span.to) / 2;
  return within({ from: middle - width / 2, to: middle + width / 2 }, whole);
}

/** `by` 1: moves by the width of the span. */
export function move(span: Span, by: number, whole: Span): Span {
  const step = (span.to - span.from) * by;
  return within({ from: span.from + step, to: span.to + step }, whole);
}

/** `part` with a margin on both sides. */
export function around(part: Span, whole: Span): Span {
  const room = Math.max(NARROWEST_MS, part.to - part.from) * 0.15;
  return within({ from: part.from - room, to: part.to + room }, whole);
}

function within(span: Span, whole: Span): Span {
  const width = Math.min(span.to - span.from, whole.to - whole.from);
  const from = Math.min(Math.max(span.from, whole.from), whole.to - width);
  return { from, to: from + width };
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14, 30].map((days) => days * DAY),
];

/** Ticks at round offsets from `origin` within the span, at most `most`. */
export function ticksOf(span: Span, origin: number, most: number): { at: number; label: string }[] {
  const width = span.to - span.from;
  const step = STEPS.find((one) => width / one <= most) ?? Math.ceil(width / most / DAY) * DAY;
  const first = Math.ceil((span.from - origin) / step) * step;
  const ticks: { at: number; label: string }[] = [];
  for (let after = first; origin + after <= span.to; after += step)
    ticks.push({ at: origin + after, label: labelOf(after, step) });
  return ticks;
}

function labelOf(after: number, step: number): string {
  if (after === 0) return '0';
  if (step < SECOND)
    return after < SECOND
      ? durationWords.milliseconds(after)
      : durationWords.seconds(Number((after / SECOND).toFixed(3)));
  const [days, hours] = [Math.floor(after / DAY), Math.floor((after % DAY) / HOUR)];
  const [minutes, seconds] = [Math.floor((after % HOUR) / MINUTE), Math.floor((after % MINUTE) / SECOND)];
  const parts = [
    [days, words.days],
    [hours, words.hours],
    [minutes, words.minutes],
    [seconds, durationWords.seconds],
  ] as const;
  return parts.flatMap(([number, show]) => (number === 0 ? [] : [show(number)])).join(' ');
}

/** Position of a time within the span in percent, limited to 0 to 100. */
export function place(span: Span, at: number): number {
  return Math.min(100, Math.max(0, ((at - span.from) / (span.to - span.from)) * 100));
}
