/**
 * The occurrences of a schedule. Cron expressions are evaluated by croner, in a time zone. Where clocks are set forward,
 * an occurrence within the gap is right after it, once. Where they are set back, a time of day occurs once, the first
 * time; `*` and steps of the hour count both hours (docs/decisions/0036-schedules.md).
 */
import { Cron } from 'croner';
import { refuse, type Refusal } from '../../core/errors.ts';
import type { Occurrences } from '../../core/schedules/plan.ts';
import type { Timing } from '../../core/schedules/schedule.ts';
import type { Millis } from '../../core/time.ts';

/** Throws for an expression or a time zone that `timingFault` refuses. */
export function occurrencesOf(timing: Timing, timezone: string): Occurrences {
  switch (timing.kind) {
    case 'cron':
      return ofCron(parse(timing.cron, timezone));
    case 'every':
      return ofInterval(timing.everyS * 1_000, timing.anchor);
    case 'at':
      return ofOne(timing.at);
  }
}

/** Null: the timing is valid, and has an occurrence after `now`. */
export function timingFault(timing: Timing, timezone: string, now: Millis): Refusal | null {
  if (!isTimezone(timezone)) {
    return refuse(
      'invalid_request',
      `${JSON.stringify(timezone)} is no IANA time zone. Write it like Europe/Berlin, or UTC.`,
      'timezone',
    );
  }
  if (timing.kind === 'cron') {
    const fault = cronFault(timing.cron);
    if (fault !== null) return refuse('invalid_request', fault, 'cron');
  }
  if (occurrencesOf(timing, timezone).after(now) !== null) return null;
  return timing.kind === 'at'
    ? refuse('invalid_request', 'at must be in the future.', 'at')
    : refuse(
        'invalid_request',
        `${timing.kind} has no time in the future.`,
        timing.kind === 'every' ? 'every_s' : 'cron',
      );
}

function cronFault(cron: string): string | null {
  try {
    parse(cron, 'UTC');
    return null;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
    return `cron is not valid: ${why.replace(/\.$/, '')}. Write five fields: minute, hour, day of month, month, day of week.`;
  }
}

/** Offsets such as +02:00 are refused: they know no daylight saving. */
function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function parse(cron: string, timezone: string): Cron {
  // The library reads a date, which has a colon, as one occurrence.
  if (!/^(?:@[a-z]+|[^\s:]+(?:\s+[^\s:]+){4})\s*$/i.test(cron)) throw new Error('it does not have five fields');
  return new Cron(cron, { mode: '5-part', timezone, paused: true });
}

function ofCron(cron: Cron): Occurrences {
  return {
    after: (time) => cron.nextRun(new Date(time))?.getTime() ?? null,
    newest(most, from, upto) {
      const found: Millis[] = [];
      let before = upto + 1;
      while (found.length < most) {
        const [last] = cron.previousRuns(1, new Date(before));
        if (last === undefined || last.getTime() < from) break;
        before = last.getTime();
        found.push(before);
      }
      return found.reverse();
    },
  };
}

function ofInterval(everyMs: Millis, anchor: Millis): Occurrences {
  const upTo = (time: Millis): number => Math.floor((time - anchor) / everyMs);
  return {
    after: (time) => anchor + Math.max(1, upTo(time) + 1) * everyMs,
    newest: (most, from, upto) => {
      const last = upTo(upto);
      const first = Math.max(1, Math.ceil((from - anchor) / everyMs), last - most + 1);
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => anchor + (first + index) * everyMs);
    },
  };
}

function ofOne(at: Millis): Occurrences {
  return {
    after: (time) => (time < at ? at : null),
    newest: (most, from, upto) => (most > 0 && from <= at && at <= upto ? [at] : []),
  };
}
