/**
 * The throttle of a tenant's calls to a model with a provider key. After a rate limit they wait until a given time; then
 * calls are let through gradually. A throttled context made no attempt and has no failure: its job waits.
 */
import type { FailureClass, Model, ModelFailure, ProviderName } from '../model/model.ts';
import { LONGEST_RETRY_AFTER_MS } from './retry.ts';
import type { TenantId } from '../ids.ts';
import type { Millis } from '../time.ts';

/** Failures that concern the key and the model, not the individual call. */
export const THROTTLE_REASONS = ['rate_limited', 'overloaded'] as const satisfies readonly FailureClass[];
export type ThrottleReason = (typeof THROTTLE_REASONS)[number];

export function isThrottleReason(text: string): text is ThrottleReason {
  return (THROTTLE_REASONS as readonly string[]).includes(text);
}

/**
 * Calls of a tenant to a model were refused. `id`: of the model and the provider key (`llm/key-id.ts`). `since`: the
 * first refusal, after which calls were always throttled. `refusedAt`: the last one.
 */
export type ActiveThrottle = {
  id: string;
  tenantId: TenantId;
  reason: ThrottleReason;
  since: Millis;
  refusedAt: Millis;
  until: Millis;
};

/** The throttles of a model, of all tenants, that the operator ended `at` this time. */
export type LiftedThrottle = { id: string; at: Millis };

/** What worker processes tell each other, and learn with each heartbeat. */
export type ThrottleNews = { active: readonly ActiveThrottle[]; lifted: readonly LiftedThrottle[] };

/** What a call waits for: it does not start before `until`. */
export type Throttle = { id: string; provider: ProviderName; model: string; reason: ThrottleReason; until: Millis };

/**
 * Why a job waits, if its model is throttled: stored in the place of a `JobError`, distinguished by its only
 * field.
 */
export type Throttled = { throttled: Throttle & Pick<ThrottledWait, 'since'> };

/** The wait of a model call for a throttle: from `since` until the call started. */
export type ThrottledWait = { since: Millis; reason: ThrottleReason };

/** The reply to a run that asks for a model: the model, for one call that starts now, or the throttle. */
export type Access = { kind: 'open'; model: Model } | ThrottledAccess;

export type ThrottledAccess = {
  kind: 'throttled';
  throttle: Throttle;
  /**
   * When to try again after a wait without a slot. Every caller gets a later time, so that the waiting contexts do
   * not all wake at once.
   */
  comeAgainAt(): Millis;
  /** Waits in place for the caller's turn. False: `until` or the signal came first, or too many callers are waiting. */
  turn(until: Millis, signal: AbortSignal): Promise<boolean>;
};

/** How long the throttle is without a Retry-After: doubled for each consecutive failure. */
const FIRST_MS = 500;
const CEILING_MS = 30_000;
/** A longer Retry-After is not waited for by other jobs: after this long a few calls find out whether it still holds. */
const LONGEST_MS = 5 * 60_000;

/**
 * How long a failure throttles its model, in milliseconds, for the `refusals`th consecutive failure (1 for the first).
 * Null: not at all. Without a Retry-After it is never longer than the job's own wait for the same failure
 * (`retry.ts`), so that a job that is alone waits only for its own retry. A Retry-After that is too long for jobs to
 * wait throttles nothing.
 */
export function throttleFor({ retryAfterMs: requestedMs }: ModelFailure, refusals: number): number | null {
  if (requestedMs === null) return Math.min(CEILING_MS, FIRST_MS * 2 ** (refusals - 1));
  return requestedMs > LONGEST_RETRY_AFTER_MS ? null : Math.max(FIRST_MS, Math.min(LONGEST_MS, requestedMs));
}
