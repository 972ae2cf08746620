/**
 * One process's view of the throttle of one tenant's calls to one model with one provider key. Calls are open until a
 * rate limit closes them until a given time. Then a ramp follows: a few calls at once, and one more for each answered
 * call, so that the number doubles each round. After the last step of the ramp, or after a minute without a refusal, the
 * throttle is removed. A refusal on the ramp closes the calls again.
 *
 * While calls of another tenant are refused, calls of this one begin on such a ramp, too: after a second, with one call.
 */
import { throttleFor, isThrottleReason, type ActiveThrottle } from '../core/run/throttle.ts';
import type { ModelFailure } from '../core/model/model.ts';
import type { Clock, Millis } from '../core/time.ts';

/** Calls in flight without a first byte that are allowed when the throttle time is over. */
const PLACES = 2;
/** With more places than this the throttle is removed. */
const LAST_PLACES = 64;
/** Slow start: how long calls wait after the first refusal of another tenant's, in milliseconds, and how many follow. */
const SLOW_START_MS = 1_000;
const SLOW_START_PLACES = 1;
/** The throttle is also removed after this long without a refusal, in milliseconds. */
const CALM_MS = 60_000;
/** Callers that wait without a slot are spread by this many milliseconds each; after a minute the sequence restarts. */
const APART_MS = 20;
const SPREAD_STEPS = 3_000;
/** After this long the next callers are called, if places are still free, in milliseconds. */
const CALL_AGAIN_MS = 100;
/** Earliest retry without a slot: a call that got no turn in place will not get one immediately. */
const SOONEST_MS = 1_000;

/** What other processes learn of a throttle. */
export type Closing = Omit<ActiveThrottle, 'id' | 'tenantId'>;

/** One throttle period: from a refusal to the next one, or to the end of the ramp. */
type ThrottlePeriod = Closing & {
  /** Consecutive refusals; 0: only calls of another tenant were refused. */
  refusals: number;
  places: number;
  /** Calls that were let through and have not been answered yet. */
  inside: number;
  /** Callers that were told to try again later. */
  deferred: number;
};

/** A call that was let through. */
export type Pass = { period: ThrottlePeriod | null; counts: boolean };

/** A call that started when nothing was known. */
export const FREE_PASS: Pass = { period: null, counts: false };

/** Limits how many callers wait in place, over all throttles of a process: waiting callers keep their slots. */
export class WaitLimit {
  readonly #most: number;
  #waiting = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** False: as many wait already. */
  take(): boolean {
    if (this.#waiting >= this.#most) return false;
    this.#waiting += 1;
    return true;
  }

  release(): void {
    this.#waiting -= 1;
  }
}

export class KeyThrottle {
  readonly #clock: Clock;
  readonly #random: () => number;
  #period: ThrottlePeriod | null = null;
  readonly #waiting = new Set<() => void>();
  #alarm: NodeJS.Timeout | null = null;
  readonly #limit: WaitLimit;
  /** When it was last removed, and when the operator last lifted it. */
  #clearedAt: Millis = -CALM_MS;
  #liftedAt: Millis = 0;

  constructor(clock: Clock, random: () => number, limit: WaitLimit) {
    this.#clock = clock;
    this.#random = random;
    this.#limit = limit;
  }

  /** Null: no calls of this tenant are refused. */
  get refusal(): Closing | null {
    const period = this.#current();
    return period === null || period.refusals === 0 ? null : period;
  }

  /** Whether it holds nothing, and no caller waits. */
  get isIdle(): boolean {
    return this.#current() === null && this.#waiting.size === 0;
  }

  /** Null: a call may start now. */
  holding(): Closing | null {
    const period = this.#current();
    return period === null || freeIn(period, this.#clock.now()) > 0 ? null : period;
  }

  /**
   * Calls of another tenant are refused: those of this one begin gradually. Not if such a beginning ended after that
   * refusal, or in the minute before it: calls were answered meanwhile, so the limit is not a common one.
   */
  startSlowly({ since, reason }: Closing): void {
    if (this.#current() !== null || since <= Math.max(this.#clearedAt + CALM_MS, this.#liftedAt)) return;
    const until = Math.max(since + SLOW_START_MS, this.#clock.now());
    const ramp = { refusals: 0, places: SLOW_START_PLACES, inside: 0, deferred: 0 };
    this.#period = { since, refusedAt: since, until, reason, ...ramp };
    this.#setAlarm();
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
    if (this.#period.places > LAST_PLACES) this.#clear(this.#clock.now());
    this.#callWaiting();
  }

  /** The call ended in any way. */
  left(pass: Pass): void {
    if (this.#giveUpPlace(pass)) this.#callWaiting();
  }

  /**
   * The call was refused. For a call that started before an earlier refusal, this is new only if it gives a later time.
   * Null: nothing that other processes need to know.
   */
  refused(pass: Pass, failure: ModelFailure): Closing | null {
    const { class: reason } = failure;
    if (!isThrottleReason(reason)) return null;
    const known = this.#period?.refusals ?? 0;
    const isCurrent = pass.period === this.#period || known === 0;
    const ms = isCurrent || failure.retryAfterMs !== null ? throttleFor(failure, known + 1) : null;
    if (ms === null) return null;
    const now = this.#clock.now();
    const since = known === 0 ? now : (this.#period?.since ?? now);
    const closing = { since, refusedAt: now, until: now + ms, reason };
    return this.#close(closing, isCurrent ? known + 1 : Math.max(known, 1)) ? closing : null;
  }

  /** Another process reported a refusal. False: nothing new. */
  receive(closing: Closing): boolean {
    if (closing.until <= this.#clock.now() || closing.refusedAt <= this.#liftedAt) return false;
    return this.#close(closing, Math.max(this.#period?.refusals ?? 0, 1));
  }

  /** The operator ended what began before `at`: the ramp begins. */
  lift(at: Millis): void {
    const period = this.#period;
    this.#liftedAt = Math.max(this.#liftedAt, at);
    if (period === null || period.refusedAt > at) return;
    // The next refusal is the first of another throttle.
    period.refusals = 0;
    period.until = Math.min(period.until, at, this.#clock.now());
    if (this.#alarm !== null) clearTimeout(this.#alarm);
    this.#alarm = null;
    this.#callWaiting();
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
    if (signal.aborted || !this.#limit.take()) return false;
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
    this.#limit.release();
    return called;
  }

  /** The period, unless it has been calm for long enough. */
  #current(): ThrottlePeriod | null {
    const calmAt = (this.#period?.until ?? 0) + CALM_MS;
    if (this.#period !== null && this.#clock.now() >= calmAt) this.#clear(calmAt);
    return this.#period;
  }

  #clear(at: Millis): void {
    this.#period = null;
    this.#clearedAt = at;
  }

  #close(closing: Closing, refusals: number): boolean {
    const before = this.#period;
    if (before !== null && before.refusals > 0 && before.until >= closing.until) return false;
    this.#period = { ...closing, refusals, places: PLACES, inside: 0, deferred: 0 };
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
    const period = this.#period;
    if (this.#alarm !== null || this.#waiting.size === 0 || period === null) return;
    const now = this.#clock.now();
    // A caller that was called and sent no call leaves its place to the next one.
    const ms = now < period.until ? period.until - now : freeIn(period, now) > 0 ? CALL_AGAIN_MS : null;
    if (ms === null) return;
    this.#alarm = setTimeout(() => {
      this.#alarm = null;
      this.#callWaiting();
    }, ms);
  }
}

function freeIn(period: ThrottlePeriod, now: Millis): number {
  return now < period.until ? 0 : Math.max(0, period.places - period.inside);
}
