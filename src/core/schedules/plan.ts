/**
 * Decides what a schedule does now. Pure: the same occurrence gets the same answer in every process, so a repeated
 * attempt changes nothing.
 */
import type { ScheduleId } from '../ids.ts';
import { LATEST, type Millis } from '../time.ts';
import { SCHEDULE_LIMITS, type CatchUp } from './schedule.ts';

/** The occurrences of a timing in order, each of them once. */
export type Occurrences = {
  /** The first one after a time. Null: there is none. */
  after(time: Millis): Millis | null;
  /** The newest of those from `from` to `upto`, both included, at most `most`, in order. */
  newest(most: number, from: Millis, upto: Millis): Millis[];
};

export type Policy = { id: ScheduleId; catchUp: CatchUp; jitterS: number };

/** An occurrence, and when it starts: later by its delay. */
export type Start = { occurrence: Millis; startAt: Millis };

/** `run`: the occurrence to run now. `missed`: those that never run. `next`: what is due after these. */
export type Plan = {
  run: Millis | null;
  missed: { from: Millis; upto: Millis } | null;
  next: Start | null;
};

/** An occurrence that starts so much later, in milliseconds, was missed. */
export const LATE_MS = 60_000;

/** `next`: the first occurrence that is not done yet. At most one occurrence runs; `Plan.next` may be due already. */
export function plan(occurrences: Occurrences, policy: Policy, next: Millis, now: Millis): Plan {
  const first = startOf(occurrences, policy, next);
  if (first.startAt > now) return { run: null, missed: null, next: first };
  const due = dueNow(occurrences, policy, first, now);
  const newest = due.at(-1) ?? first;
  if (policy.catchUp === 'none' && now - newest.startAt > LATE_MS) {
    const missed = { from: next, upto: newest.occurrence };
    return { run: null, missed, next: following(occurrences, policy, newest.occurrence) };
  }
  const run = (due[0] ?? first).occurrence;
  const [lastMissed] = run > next ? occurrences.newest(1, next, run - 1) : [];
  return {
    run,
    missed: lastMissed === undefined ? null : { from: next, upto: lastMissed },
    next: following(occurrences, policy, run),
  };
}

/** The first start after a time. Null: there is none. */
export function following(occurrences: Occurrences, policy: Policy, time: Millis): Start | null {
  const occurrence = occurrences.after(time);
  return occurrence === null ? null : startOf(occurrences, policy, occurrence);
}

/** The delay ends before the next occurrence, so that occurrences start in their order, and at a time that can be stored. */
export function startOf(occurrences: Occurrences, { id, jitterS }: Policy, occurrence: Millis): Start {
  if (jitterS === 0) return { occurrence, startAt: occurrence };
  const gap = (occurrences.after(occurrence) ?? LATEST) - occurrence;
  const delay = Math.floor(share(`${id}/${occurrence}`) * Math.min(jitterS * 1_000, gap));
  return { occurrence, startAt: occurrence + delay };
}

/** The starts from `first` on that are due: the newest, or the newest ones that catch up. */
function dueNow(occurrences: Occurrences, policy: Policy, first: Start, now: Millis): Start[] {
  const most = policy.catchUp === 'all' ? SCHEDULE_LIMITS.catchUp : 1;
  const second = occurrences.after(first.occurrence);
  if (second === null || second > now) return [first];
  // The delay of the newest one may not be over.
  return occurrences
    .newest(most + 1, first.occurrence, now)
    .map((occurrence) => startOf(occurrences, policy, occurrence))
    .filter(({ startAt }) => startAt <= now)
    .slice(-most);
}

/** A number from 0 to 1, spread evenly over texts: FNV-1a, mixed as in MurmurHash3. */
function share(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
