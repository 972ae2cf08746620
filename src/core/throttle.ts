/**
 * The gate before a provider's key. A key that was told to slow down is held back for everybody who uses it, until a
 * moment, and is then let in gradually. A context that is held back made no attempt and failed at nothing: its job waits.
 */
import type { FailureClass, Model, ModelFailure, ProviderName } from './model.ts';
import { LONGEST_RETRY_AFTER_MS } from './retry.ts';
import type { Millis } from './time.ts';

/** The failures that speak of the key, and not of the one call. */
export const THROTTLE_REASONS = ['rate_limited', 'overloaded'] as const satisfies readonly FailureClass[];
export type ThrottleReason = (typeof THROTTLE_REASONS)[number];

export function isThrottleReason(text: string): text is ThrottleReason {
  return (THROTTLE_REASONS as readonly string[]).includes(text);
}

/** What holds a key back; nobody calls before `until`. */
export type Throttle = { provider: ProviderName; reason: ThrottleReason; until: Millis };

/** What a job says of the hold it waits for: beside a `JobError`, and told apart by its one member. */
export type Throttled = { throttled: Throttle };

/** What a run is given when it asks for a model: the model, for one call that begins now, or the hold. */
export type Access = { kind: 'open'; model: Model } | ThrottledAccess;

export type ThrottledAccess = {
  kind: 'throttled';
  throttle: Throttle;
  /** When to come again after a wait without a slot: each who asks is given a later moment, so that no herd wakes. */
  comeAgainAt(): Millis;
  /** Waits in place for one's turn. False: `until` came first, or the signal, or too many wait. */
  turn(until: Millis, signal: AbortSignal): Promise<boolean>;
};

/** How long a key is held back that did not say for how long: doubled each time in a row. */
const FIRST_MS = 500;
const CEILING_MS = 30_000;

/**
 * For how long a failure closes its key's gate, in milliseconds, when it is the `strikes`th in a row (1 for the first).
 * Null: not at all. Never longer than the job's own wait for the same failure where that is our choice (`retry.ts`), so
 * that whoever is alone with its key waits for nothing but itself; a Retry-After that no job waits for closes nothing.
 */
export function throttleFor({ retryAfterMs: asked }: ModelFailure, strikes: number): number | null {
  if (asked === null) return Math.min(CEILING_MS, FIRST_MS * 2 ** (strikes - 1));
  return asked > LONGEST_RETRY_AFTER_MS ? null : Math.max(FIRST_MS, asked);
}
