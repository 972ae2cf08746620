/**
 * One process's view of the throttle of one provider key. The key is open until a rate limit closes it until a given
 * time. Then a ramp follows: a few calls at once, and one more for each answered call, so that the number doubles
 * each round. After the last step of the ramp, or after a minute without a refusal, the throttle is removed. A
 * refusal on the ramp closes the key again.
 */
import { throttleFor, isThrottleReason, type ThrottleReason } from '../core/run/throttle.ts';
import type { ModelFailure } from '../core/model/model.ts';
import type { Clock, Millis } from '../core/time.ts';

/** Calls in flight without a first byte that are allowed when the throttle time is over. */
const PLACES = 2;
/** With more places than this the throttle is removed. */
const LAST_PLACES = 64;
/** The throttle is also removed after this long without a refusal, in milliseconds. */
const CALM_MS = 60_000;
/** Callers that wait without a slot are spread by this many milliseconds each; after a minute the sequence restarts. */
const APART_MS = 20;
const SPREAD_STEPS = 3_000;
/** Earliest retry without a slot: a call that got no turn in place will not get one immediately. */
const SOONEST_MS = 1_000;
/** Maximum callers that wait in place, because waiting callers keep their slots. */
const MOST_WAITING = 32;

export type Closing = { until: Millis; reason: ThrottleReason };

/** One throttle period: from a refusal to the next one, or to the end of the ramp. */
type ThrottlePeriod = Closing & {
  /** Consecutive refusals. */
  refusals: number;
  places: number;
  /** Calls that were let through and have not been answered yet. */
  inside: number;
  /** Callers that were told to try again later. */
  deferred: number;
};

/** A call that was let through. */
export type Pass = { period: ThrottlePeriod | null; counts: boolean };

export class KeyThrottle {
  readonly #clock: Clock;
  readonly #random: () => number;
  #period: ThrottlePeriod | null = null;
  readonly #waiting = new Set<() => void>();
  #alarm: NodeJS.Timeout | null = null;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Null: a call may start now. */
  holding(): Closing | null {
    const period = this.#period;
    const now = this.#clock.now();
    if (period === null || freeIn(period, now) > 0) return null;
    if (now < period.until + CALM_MS) return period;
    this.#period = null;
    return null;
  }

  /** A call starts. It must end with `answered` or `left`, whichever comes first. */
  enter(): Pass {
    const period = this.#period;
    if (period !== null) period.inside += 1;
    return { period, counts: period !== null };
  }

  /** The first byte of the answer arrived: the key works again. */
  answered(pass: Pass): void {
    if (!this.#giveUpPlace(pass) || this.#period === null) return;
    this.#period.places += 1;
    if (this.#period.places > LAST_PLACES) this.#period = null;
    this.#callWaiting();
  }

  /** The call ended in any way. */
  left(pass: Pass): void {
    if (this.#giveUpPlace(pass)) this.#callWaiting();
  }

  /**
   * The call was refused. For a call that started before the key was closed, this is new only if it gives a later
   * time. Null: nothing that other processes need to know.
   */
  refused(pass: Pass, failure: ModelFailure): Closing | null {
    const { class: reason } = failure;
    if (!isThrottleReason(reason)) return null;
    const isCurrent = pass.period === this.#period;
    const known = this.#period?.refusals ?? 0;
    const ms = isCurrent || failure.retryAfterMs !== null ? throttleFor(failure, known + 1) : null;
    if (ms === null) return null;
    const closing = { until: this.#clock.now() + ms, reason };
    return this.#close(closing, isCurrent ? known + 1 : known) ? closing : null;
  }

  /** Another process reported a refusal. False: nothing new. */
  receive(closing: Closing): boolean {
    return closing.until > this.#clock.now() && this.#close(closing, this.#period?.refusals ?? 0);
  }

  /** When to try again after a wait without a slot. */
  comeAgainAt(): Millis {
    const now = this.#clock.now();
    const period = this.#period;
    if (period === null) return now;
    const place = period.deferred % SPREAD_STEPS;
    period.deferred += 1;
    return Math.ceil(Math.max(now + SOONEST_MS, period.until) + (place + this.#random()) * APART_MS);
  }

  /**
   * Waits for the caller's turn, first come, first served. False: `until` or the signal came first, or too many
   * callers are waiting.
   */
  async turn(until: Millis, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted || this.#waiting.size >= MOST_WAITING) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const call = () => resolve(true);
    const giveUp = () => resolve(false);
    const timer = setTimeout(giveUp, Math.max(0, until - this.#clock.now()));
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiting.add(call);
    this.#setAlarm();
    const called = await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
    this.#waiting.delete(call);
    return called;
  }

  #close({ until, reason }: Closing, refusals: number): boolean {
    const before = this.#period;
    if (before !== null && before.until >= until) return false;
    this.#period = { until, reason, refusals, places: PLACES, inside: 0, deferred: 0 };
    this.#setAlarm();
    return true;
  }

  /** False: the place was released before, or belongs to an earlier throttle period. */
  #giveUpPlace(pass: Pass): boolean {
    if (!pass.counts) return false;
    pass.counts = false;
    if (pass.period === null || pass.period !== this.#period) return false;
    pass.period.inside -= 1;
    return true;
  }

  #callWaiting(): void {
    let free = this.#period === null ? Infinity : freeIn(this.#period, this.#clock.now());
    for (const call of this.#waiting) {
      if (free <= 0) break;
      free -= 1;
      this.#waiting.delete(call);
      call();
    }
    this.#setAlarm();
  }

  /** While callers are waiting, the first are called when the throttle time is over. */
  #setAlarm(): void {
    const ms = (this.#period?.until ?? 0) - this.#clock.now();
    if (this.#alarm !== null || this.#waiting.size === 0 || ms <= 0) return;
    this.#alarm = setTimeout(() => {
      this.#alarm = null;
      this.#callWaiting();
    }, ms);
  }
}

function freeIn(period: ThrottlePeriod, now: Millis): number {
  return now < period.until ? 0 : Math.max(0, period.places - period.inside);
}
