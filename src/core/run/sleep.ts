/** A sleep requested by a model with the built-in tool `sleep_until`: a timer in the database that holds no slot. */
import { isJsonObject, type Json } from '../json.ts';
import type { Millis } from '../time.ts';
import type { Wait } from '../tools/tool-call.ts';

/** The tool's name. No other tool may have it. */
export const SLEEP_UNTIL = 'sleep_until';

/** 30 days. For longer sleeps the model sleeps again. */
export const LONGEST_SLEEP_S = 30 * 24 * 60 * 60;

/** `problem`: what is wrong with the arguments, as text for the model. */
type Sleep = { ok: true; until: Millis } | { ok: false; problem: string };

/** A time in the past is valid: the sleep ends at once. */
export function parseSleep(input: Json, now: Millis): Sleep {
  const invalid = (problem: string): Sleep => ({ ok: false, problem });
  if (!isJsonObject(input)) return invalid('the arguments must be a JSON object');
  const { seconds = null, until = null } = input;
  if ((seconds === null) === (until === null)) return invalid('give either seconds or until');
  const wanted = seconds === null ? instantOf(until) : afterSeconds(seconds, now);
  if (wanted === null && seconds !== null) return invalid('seconds must be a number of at least 0');
  if (wanted === null) return invalid('until must be a time with a time zone, such as 2026-11-20T18:30:00Z');
  if (wanted - now > LONGEST_SLEEP_S * 1_000)
    return invalid(`a sleep can last at most ${LONGEST_SLEEP_S} seconds (30 days): split it into several sleeps`);
  return { ok: true, until: wanted };
}

/** The wait that starts now. Null: the arguments contain no valid time. */
export function sleepFrom(input: Json, now: Millis): Wait | null {
  const sleep = parseSleep(input, now);
  return sleep.ok ? { for: 'timer', since: now, until: sleep.until, needs: null } : null;
}

function afterSeconds(seconds: Json, now: Millis): Millis | null {
  return typeof seconds === 'number' && seconds >= 0 ? now + Math.round(seconds * 1_000) : null;
}

/** RFC 3339 with a required time zone. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/i;

function instantOf(until: Json): Millis | null {
  if (typeof until !== 'string' || !INSTANT.test(until)) return null;
  const instant = Date.parse(until);
  return Number.isNaN(instant) ? null : instant;
}

/** The result of a sleep for the model, rounded to tenths of a second. */
export function sleptText(since: Millis, now: Millis): string {
  return JSON.stringify({ slept_s: Math.max(0, Math.round((now - since) / 100) / 10) });
}
