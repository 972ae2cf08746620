/**
 * The only code that decides whether and when a failed model call is retried. SDKs and adapters never retry.
 *
 * During short waits the run keeps its slot; for long waits it parks the context on a timer in the database.
 */
import type { JobCode } from '../errors.ts';
import type { FailureClass, ModelFailure } from '../model/model.ts';
import type { Millis } from '../time.ts';

/** A wait up to this long keeps its slot. */
export const KEEP_SLOT_MS = 2_000;

/** First wait and maximum wait in milliseconds, and how many consecutive failures of a class end the job. */
type RetryPolicy = { firstMs: number; ceilingMs: number; failures: number };

type FailureRule = { retried: true; code: JobCode; policy: RetryPolicy } | { retried: false; code: JobCode };

const LONG_RETRIES: RetryPolicy = { firstMs: 1_000, ceilingMs: 120_000, failures: 10 };
const QUICK: RetryPolicy = { firstMs: 250, ceilingMs: 30_000, failures: 6 };

export const FAILURE_RULES: Readonly<Record<FailureClass, FailureRule>> = {
  rate_limited: { retried: true, code: 'provider_rate_limited', policy: LONG_RETRIES },
  overloaded: { retried: true, code: 'provider_overloaded', policy: LONG_RETRIES },
  server_error: { retried: true, code: 'provider_overloaded', policy: QUICK },
  unreachable: { retried: true, code: 'provider_unreachable', policy: QUICK },
  stream_interrupted: { retried: true, code: 'stream_interrupted', policy: QUICK },
  stream_stalled: { retried: true, code: 'stream_interrupted', policy: QUICK },
  prompt_too_long: { retried: false, code: 'prompt_too_long' },
  refused: { retried: false, code: 'provider_refused' },
  bad_request: { retried: false, code: 'provider_bad_request' },
  auth: { retried: false, code: 'provider_auth' },
};

/** If the provider asks for a wait of more than a day, the job fails. */
export const LONGEST_RETRY_AFTER_MS = 24 * 60 * 60 * 1_000;

type Retry = { kind: 'again'; at: Millis } | { kind: 'failed' };

/**
 * What follows from the `failures`th consecutive failure (1 for the first). `random` in [0, 1) spreads retries: our
 * own wait is between half and all of its step. A Retry-After is honoured in full, plus up to a tenth. It never
 * shortens our own wait, because a provider that sends a Retry-After of zero would otherwise be called many times at
 * once.
 */
export function retryAfter(failure: ModelFailure, failures: number, now: Millis, random: number): Retry {
  const rule = FAILURE_RULES[failure.class];
  if (!rule.retried || failures >= rule.policy.failures) return { kind: 'failed' };
  const requestedMs = failure.retryAfterMs ?? 0;
  if (requestedMs > LONGEST_RETRY_AFTER_MS) return { kind: 'failed' };
  const step = Math.min(rule.policy.ceilingMs, rule.policy.firstMs * 2 ** (failures - 1));
  return {
    kind: 'again',
    at: now + Math.ceil(Math.max(requestedMs * (1 + random / 10), step * (0.5 + random / 2))),
  };
}
