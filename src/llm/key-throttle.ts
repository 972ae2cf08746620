/**
 * One process's view of one provider key. Open until the key is told to slow down; then closed until a moment, then a
 * ramp: a few calls at once, one more with each that is answered, so that they double with each round. Behind the last
 * step of the ramp, or after a minute without a refusal, the gate is open and all is forgotten. A refusal on the ramp
 * closes it again.
 */
import { throttleFor, isThrottleReason } from '../core/throttle.ts';
import type { ThrottleReason } from '../core/throttle.ts';
import type { ModelFailure } from '../core/model.ts';
import type { Clock, Millis } from '../core/time.ts';

/** Calls that may wait for their first word at once, when the hold is over. */
const PLACES = 2;
/** With more places than these the gate is open. */
const LAST_PLACES = 64;
/** After so long without a refusal too, in milliseconds. */
const CALM_MS = 60_000;
/** Who waits without a slot comes again so much later than who asked before, in milliseconds: after a minute from the start. */
const APART_MS = 20;
const MOMENTS = 3_000;
/** Nor sooner than this: what was not called in place is not called in a moment. */
const SOONEST_MS = 1_000;
/** So many wait in place at most: slots are for those who have something to do. */
const MOST_WAITING = 32;

export type Closing = { until: Millis; reason: ThrottleReason };

/** From one refusal to the next, or to the end of the ramp. */
type Spell = Closing & {
  /** Refusals in a row. */
  strikes: number;
  places: number;
  /** Calls that were let in and have not been answered yet. */
  inside: number;
  /** How many were sent away to come again. */
  sentAway: number;
};

/** A call that was let in. */
export type Pass = { spell: Spell | null; counts: boolean };

export class KeyThrottle {
  readonly #clock: Clock;
  readonly #random: () => number;
  #spell: Spell | null = null;
  readonly #waiting = new Set<() => void>();
  #alarm: NodeJS.Timeout | null = null;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Null: a call may begin now. */
  holding(): Closing | null {
    const spell = this.#spell;
    const now = this.#clock.now();
    if (spell === null || freeIn(spell, now) > 0) return null;
    if (now < spell.until + CALM_MS) return spell;
    this.#open();
    return null;
  }

  /** A call begins. To be `answered` or `left`, whichever comes first. */
  enter(): Pass {
    const spell = this.#spell;
    if (spell !== null) spell.inside += 1;
    return { spell, counts: spell !== null };
  }

  /** The first word of the answer came: the key serves again. */
  answered(pass: Pass): void {
    if (!this.#giveUpPlace(pass) || this.#spell === null) return;
    this.#spell.places += 1;
    if (this.#spell.places > LAST_PLACES) this.#open();
    this.#callWaiting();
  }

  /** The call ended in whatever way. */
  left(pass: Pass): void {
    if (this.#giveUpPlace(pass)) this.#callWaiting();
  }

  /**
   * The call was refused. What was begun before the gate closed says nothing new, unless it names a later moment.
   * Null: nothing that others do not know.
   */
  refused(pass: Pass, failure: ModelFailure): Closing | null {
    const { class: reason } = failure;
    if (!isThrottleReason(reason)) return null;
    const isNews = pass.spell === this.#spell;
    const known = this.#spell?.strikes ?? 0;
    const ms = isNews || failure.retryAfterMs !== null ? throttleFor(failure, known + 1) : null;
    if (ms === null) return null;
    const closing = { until: this.#clock.now() + ms, reason };
    return this.#close(closing, isNews ? known + 1 : known) ? closing : null;
  }

  /** Somebody else was refused. False: no news. */
  receive(closing: Closing): boolean {
    return closing.until > this.#clock.now() && this.#close(closing, this.#spell?.strikes ?? 0);
  }

  /** When to come again after a wait without a slot. */
  comeAgainAt(): Millis {
    const now = this.#clock.now();
    const spell = this.#spell;
    if (spell === null) return now;
    const place = spell.sentAway % MOMENTS;
    spell.sentAway += 1;
    return Math.ceil(Math.max(now + SOONEST_MS, spell.until) + (place + this.#random()) * APART_MS);
  }

  /** Waits for one's turn, first come, first served. False: `until` came first, or the signal, or too many wait. */
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

  #close({ until, reason }: Closing, strikes: number): boolean {
    const before = this.#spell;
    if (before !== null && before.until >= until) return false;
    this.#spell = { until, reason, strikes, places: PLACES, inside: 0, sentAway: 0 };
    this.#setAlarm();
    return true;
  }

  #open(): void {
    this.#spell = null;
  }

  /** False: the place was given up before, or it is one of a spell that is over. */
  #giveUpPlace(pass: Pass): boolean {
    if (!pass.counts) return false;
    pass.counts = false;
    if (pass.spell === null || pass.spell !== this.#spell) return false;
    pass.spell.inside -= 1;
    return true;
  }

  #callWaiting(): void {
    let free = this.#spell === null ? Infinity : freeIn(this.#spell, this.#clock.now());
    for (const call of this.#waiting) {
      if (free <= 0) break;
      free -= 1;
      this.#waiting.delete(call);
      call();
    }
    this.#setAlarm();
  }

  /** While anybody waits, the first are called when the hold is over. */
  #setAlarm(): void {
    const ms = (this.#spell?.until ?? 0) - this.#clock.now();
    if (this.#alarm !== null || this.#waiting.size === 0 || ms <= 0) return;
    this.#alarm = setTimeout(() => {
      this.#alarm = null;
      this.#callWaiting();
    }, ms);
  }
}

function freeIn(spell: Spell, now: Millis): number {
  return now < spell.until ? 0 : Math.max(0, spell.places - spell.inside);
}
