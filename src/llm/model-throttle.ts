/**
 * One process's view of the throttle of one model with one provider key. It is open until a rate limit closes it until a
 * given time. Then a ramp follows: a few calls at once, and one more for each answered call, so that the number doubles
 * each round. After the last step of the ramp, or after a minute without a refusal, the throttle is removed. A refusal
 * on the ramp closes it again.
 *
 * That holds for the tenants whose calls were refused. Each other tenant waits a second at most, and then sends one
 * call as a probe: an answer admits all of its calls, a refusal makes it one of the refused.
 */
import { throttleFor, isThrottleReason, type ActiveThrottle } from '../core/run/throttle.ts';
import type { TenantId } from '../core/ids.ts';
import type { ModelFailure } from '../core/model/model.ts';
import type { Clock, Millis } from '../core/time.ts';

/** Calls in flight without a first byte that are allowed when the throttle time is over. */
const PLACES = 2;
/** With more places than this the throttle is removed. */
const LAST_PLACES = 64;
/** The throttle is also removed after this long without a refusal, in milliseconds. */
const CALM_MS = 60_000;
/** How long a tenant that was not refused waits until it sends a probe, in milliseconds. */
const PROBE_AFTER_MS = 1_000;
/** Callers that wait without a slot are spread by this many milliseconds each; after a minute the sequence restarts. */
const APART_MS = 20;
const SPREAD_STEPS = 3_000;
/** Earliest retry without a slot: a call that got no turn in place will not get one immediately. */
const SOONEST_MS = 1_000;
/** Maximum callers of a tenant that wait in place, because waiting callers keep their slots. */
const MOST_WAITING = 32;

/** What is known of a throttle outside this process. */
export type Closing = Omit<ActiveThrottle, 'id'>;

/** One throttle period: from a refusal to the next one, or to the end of the ramp. */
type ThrottlePeriod = Omit<Closing, 'tenantIds'> & {
  refused: Set<TenantId>;
  /** Of the other tenants: whether their probe is in flight, or was answered. */
  probes: Map<TenantId, 'sent' | 'answered'>;
  /** Consecutive refusals. */
  refusals: number;
  places: number;
  /** Calls of refused tenants that were let through and have not been answered yet. */
  inside: number;
  /** Callers that were told to try again later. */
  deferred: number;
};

/** A call that was let through. `takes`: what it releases when it is answered or ends; null: nothing, or no longer. */
export type Pass = { tenantId: TenantId; period: ThrottlePeriod | null; takes: 'place' | 'probe' | null };

type Waiting = { tenantId: TenantId; call(): void };

export class ModelThrottle {
  readonly #clock: Clock;
  readonly #random: () => number;
  #period: ThrottlePeriod | null = null;
  /** Refusals before this time are over: the operator has lifted their throttle. */
  #liftedAt: Millis = 0;
  readonly #waiting = new Set<Waiting>();
  #alarm: NodeJS.Timeout | null = null;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Whether it can be forgotten: it holds nothing, and no caller waits. */
  get isIdle(): boolean {
    return this.#current() === null && this.#waiting.size === 0;
  }

  /** Until when calls of this tenant have to wait. Null: one may start now. */
  holding(tenantId: TenantId): Pick<Closing, 'until' | 'reason'> | null {
    const period = this.#current();
    if (period === null) return null;
    const { reason } = period;
    const now = this.#clock.now();
    if (period.refused.has(tenantId)) return freeIn(period, now) > 0 ? null : { reason, until: period.until };
    switch (period.probes.get(tenantId)) {
      case 'answered':
        return null;
      case 'sent':
        return { reason, until: now + PROBE_AFTER_MS };
      case undefined: {
        const until = probeAt(period);
        return now < until ? { reason, until } : null;
      }
    }
  }

  /** A call starts. It must end with `answered` or `left`, whichever comes first. */
  enter(tenantId: TenantId): Pass {
    const period = this.#period;
    if (period === null || period.probes.get(tenantId) === 'answered') return { tenantId, period, takes: null };
    if (!period.refused.has(tenantId)) {
      period.probes.set(tenantId, 'sent');
      return { tenantId, period, takes: 'probe' };
    }
    period.inside += 1;
    return { tenantId, period, takes: 'place' };
  }

  /** The first byte of the answer arrived: the key works again, or works for this tenant. */
  answered(pass: Pass): void {
    const { tenantId, takes } = pass;
    pass.takes = null;
    const period = this.#period;
    if (period === null || takes === null) return;
    if (takes === 'probe') {
      // A later period, too: the tenant was not refused meanwhile.
      if (!period.refused.has(tenantId)) period.probes.set(tenantId, 'answered');
    } else if (pass.period === period) {
      period.inside -= 1;
      period.places += 1;
      if (period.places > LAST_PLACES) this.#period = null;
    }
    this.#callWaiting();
  }

  /** The call ended in any way. */
  left(pass: Pass): void {
    const { tenantId, takes } = pass;
    pass.takes = null;
    const period = this.#period;
    if (period === null || takes === null || pass.period !== period) return;
    if (takes === 'place') period.inside -= 1;
    else if (period.probes.get(tenantId) === 'sent') period.probes.delete(tenantId);
    this.#callWaiting();
  }

  /**
   * The call was refused. For a probe, or a call that started before the period, this is new only if it gives a later
   * time, or if no call of the tenant was refused before. Null: nothing that other processes need to know.
   */
  refused(pass: Pass, failure: ModelFailure): Closing | null {
    const { class: reason } = failure;
    if (!isThrottleReason(reason)) return null;
    const { tenantId } = pass;
    const period = this.#period;
    const isNext = pass.period === period && pass.takes !== 'probe';
    const known = period?.refusals ?? 0;
    const ms = isNext || failure.retryAfterMs !== null ? throttleFor(failure, known + 1) : null;
    const since = this.#clock.now();
    const until = ms === null ? (period?.until ?? null) : since + ms;
    if (until === null) return null;
    const closing = { since, until, reason, tenantIds: [tenantId] };
    return this.#close(closing, isNext ? known + 1 : known) ? closing : null;
  }

  /** Another process reported a refusal. False: nothing new. */
  receive(closing: Closing): boolean {
    if (closing.until <= this.#clock.now() || closing.since <= this.#liftedAt) return false;
    return this.#close(closing, this.#period?.refusals ?? 0);
  }

  /** The operator ended what began before `at`: the ramp begins. */
  lift(at: Millis): void {
    this.#liftedAt = Math.max(this.#liftedAt, at);
    const period = this.#period;
    if (period === null || period.since > at || period.until <= at) return;
    period.until = at;
    this.#callWaiting();
  }

  /** When a caller of this tenant is to try again after a wait without a slot. */
  comeAgainAt(tenantId: TenantId): Millis {
    const now = this.#clock.now();
    const period = this.#period;
    if (period === null) return now;
    const until = period.refused.has(tenantId) ? period.until : probeAt(period);
    const place = period.deferred % SPREAD_STEPS;
    period.deferred += 1;
    return Math.ceil(Math.max(now + SOONEST_MS, until) + (place + this.#random()) * APART_MS);
  }

  /**
   * Waits for the caller's turn, first come, first served within its tenant. False: `until` or the signal came first,
   * or too many callers of the tenant are waiting.
   */
  async turn(tenantId: TenantId, until: Millis, signal: AbortSignal): Promise<boolean> {
    const ofTenant = [...this.#waiting].filter((one) => one.tenantId === tenantId);
    if (signal.aborted || ofTenant.length >= MOST_WAITING) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiting = { tenantId, call: () => resolve(true) };
    const giveUp = () => resolve(false);
    const timer = setTimeout(giveUp, Math.max(0, until - this.#clock.now()));
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiting.add(waiting);
    this.#setAlarm();
    const called = await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
    this.#waiting.delete(waiting);
    return called;
  }

  /** The period, unless it has been calm for long enough. */
  #current(): ThrottlePeriod | null {
    if (this.#period !== null && this.#clock.now() >= this.#period.until + CALM_MS) this.#period = null;
    return this.#period;
  }

  #close({ since, until, reason, tenantIds }: Closing, refusals: number): boolean {
    const before = this.#period;
    const refused = new Set([...(before?.refused ?? []), ...tenantIds]);
    const probes = new Map([...(before?.probes ?? [])].filter(([tenantId]) => !refused.has(tenantId)));
    if (before !== null && before.until >= until) {
      const isNew = refused.size > before.refused.size;
      before.refused = refused;
      before.probes = probes;
      return isNew;
    }
    this.#period = { until, reason, since, refused, probes, refusals, places: PLACES, inside: 0, deferred: 0 };
    this.#setAlarm();
    return true;
  }

  #callWaiting(): void {
    const period = this.#period;
    const now = this.#clock.now();
    let free = period === null ? Infinity : freeIn(period, now);
    /** Tenants of which one caller is called, which sends the probe. */
    const probing = new Set<TenantId>();
    for (const waiting of this.#waiting) {
      const { tenantId } = waiting;
      if (period !== null && !period.refused.has(tenantId)) {
        if (probing.has(tenantId) || this.holding(tenantId) !== null) continue;
        if (period.probes.get(tenantId) === undefined) probing.add(tenantId);
      } else {
        if (free <= 0) continue;
        free -= 1;
      }
      this.#waiting.delete(waiting);
      waiting.call();
    }
    this.#setAlarm();
  }

  /** While callers are waiting, the first are called when their time has come. */
  #setAlarm(): void {
    const period = this.#period;
    if (this.#alarm !== null || period === null || this.#waiting.size === 0) return;
    const now = this.#clock.now();
    const next = Math.min(
      ...[...this.#waiting]
        .map(({ tenantId }) => (period.refused.has(tenantId) ? period.until : probeAt(period)))
        .filter((at) => at > now),
    );
    if (next === Infinity) return;
    this.#alarm = setTimeout(() => {
      this.#alarm = null;
      this.#callWaiting();
    }, next - now);
  }
}

/** The earliest time of a probe. */
function probeAt({ since, until }: ThrottlePeriod): Millis {
  return Math.min(until, since + PROBE_AFTER_MS);
}

function freeIn(period: ThrottlePeriod, now: Millis): number {
  return now < period.until ? 0 : Math.max(0, period.places - period.inside);
}
