/** A sleep that a model asks for with the built-in tool `sleep_until`: a wait for a moment, which costs a row and no slot. */
import { isJsonObject } from './json.ts';
import type { Json } from './json.ts';
import type { Millis } from './time.ts';
import type { Wait } from './tool-call.ts';

/** The tool's name. No other tool may have it. */
export const SLEEP_UNTIL = 'sleep_until';

/** 30 days: whoever wants to sleep longer sleeps again. */
export const LONGEST_SLEEP_S = 30 * 24 * 60 * 60;

/** `problem`: what is wrong with the arguments, in words for the model that sent them. */
export type Sleep = { ok: true; until: Millis } | { ok: false; problem: string };

/** A moment that has passed is no mistake: nothing is left to sleep. */
export function parseSleep(input: Json, now: Millis): Sleep {
  if (!isJsonObject(input)) return { ok: false, problem: 'the arguments must be a JSON object' };
  const { seconds = null, until = null } = input;
  if ((seconds === null) === (until === null)) return { ok: false, problem: 'give either seconds or until' };
  const wanted = seconds === null ? momentOf(until) : afterSeconds(seconds, now);
  if (wanted === null) {
    return {
      ok: false,
      problem:
        seconds === null
          ? 'until must be a time with its zone, such as 2026-11-20T18:30:00Z'
          : 'seconds must be a number that is not negative',
    };
  }
  return wanted - now > LONGEST_SLEEP_S * 1_000
    ? { ok: false, problem: `a sleep takes at most ${LONGEST_SLEEP_S} seconds (30 days): sleep in parts` }
    : { ok: true, until: wanted };
}

/** The wait that a call begins now. Null: its arguments name no moment. */
export function sleepFrom(input: Json, now: Millis): Wait | null {
  const sleep = parseSleep(input, now);
  return sleep.ok ? { for: 'timer', since: now, until: sleep.until, needs: null } : null;
}

function afterSeconds(seconds: Json, now: Millis): Millis | null {
  return typeof seconds === 'number' && seconds >= 0 ? now + Math.round(seconds * 1_000) : null;
}

/** RFC 3339. Without a zone nobody knows when it is. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/i;

function momentOf(until: Json): Millis | null {
  if (typeof until !== 'string' || !MOMENT.test(until)) return null;
  const moment = Date.parse(until);
  return Number.isNaN(moment) ? null : moment;
}

/** What a sleep gives the model: tenths of a second. */
export function sleptText(since: Millis, now: Millis): string {
  return JSON.stringify({ slept_s: Math.max(0, Math.round((now - since) / 100) / 10) });
}
