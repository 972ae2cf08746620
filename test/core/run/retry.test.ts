// The handling of a failed model call, by error class.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { JOB_CODES, type JobCode } from '../../../src/core/errors.ts';
import type { FailureClass, ModelFailure } from '../../../src/core/model/model.ts';
import { FAILURE_RULES, KEEP_SLOT_MS, LONGEST_RETRY_AFTER_MS, retryAfter } from '../../../src/core/run/retry.ts';
import { NOW } from '../builders.ts';

const CLASSES = Object.keys(FAILURE_RULES) as FailureClass[];
const retried = CLASSES.filter((name) => FAILURE_RULES[name].retried);
const hopeless = CLASSES.filter((name) => !FAILURE_RULES[name].retried);

function failure(name: FailureClass, retryAfterMs: number | null = null): ModelFailure {
  return { class: name, message: 'm', retryAfterMs };
}

/** The delay of the next call; null: the job fails. */
function delay(of: ModelFailure, failures: number, random = 0.5): number | null {
  const retry = retryAfter(of, failures, NOW, random);
  return retry.kind === 'again' ? retry.at - NOW : null;
}

test.each<[FailureClass, JobCode, first: number, ceiling: number, failures: number]>([
  ['rate_limited', 'provider_rate_limited', 1_000, 120_000, 10],
  ['overloaded', 'provider_overloaded', 1_000, 120_000, 10],
  ['server_error', 'provider_overloaded', 250, 30_000, 6],
  ['unreachable', 'provider_unreachable', 250, 30_000, 6],
  ['stream_interrupted', 'stream_interrupted', 250, 30_000, 6],
  ['stream_stalled', 'stream_interrupted', 250, 30_000, 6],
])('%s is retried, then fails as %s', (name, code, first, ceiling, failures) => {
  expect(FAILURE_RULES[name].code).toBe(code);
  const waits = Array.from({ length: failures }, (_, n) => delay(failure(name), n + 1, 0.999_999_9));
  expect(waits).toEqual([...Array.from({ length: failures - 1 }, (_, n) => Math.min(ceiling, first * 2 ** n)), null]);
});

test.each<[FailureClass, JobCode]>([
  ['prompt_too_long', 'prompt_too_long'],
  ['refused', 'provider_refused'],
  ['bad_request', 'provider_bad_request'],
  ['auth', 'provider_auth'],
])('%s fails the job at once as %s, whatever Retry-After the provider sends', (name, code) => {
  expect(FAILURE_RULES[name].code).toBe(code);
  expect(retryAfter(failure(name, 1_000), 1, NOW, 0)).toEqual({ kind: 'failed' });
});

test('every class has its rule, and every rule a code that jobs can have', () => {
  expect([...retried, ...hopeless].sort()).toEqual([...CLASSES].sort());
  for (const name of CLASSES) expect(JOB_CODES).toContain(FAILURE_RULES[name].code);
  expect(JOB_CODES).not.toContain('not_found');
});

test('the first wait keeps its slot, later waits of a class with long retries park', () => {
  expect(delay(failure('overloaded'), 1, 0.99)).toBeLessThanOrEqual(KEEP_SLOT_MS);
  expect(delay(failure('overloaded'), 4, 0)).toBeGreaterThan(KEEP_SLOT_MS);
});

test('a Retry-After is honoured in full, up to a day', () => {
  expect(delay(failure('rate_limited', 7_000), 1, 0)).toBe(7_000);
  expect(delay(failure('rate_limited', LONGEST_RETRY_AFTER_MS), 1, 0)).toBe(LONGEST_RETRY_AFTER_MS);
  expect(delay(failure('rate_limited', LONGEST_RETRY_AFTER_MS + 1), 1, 0)).toBeNull();
});

test('a Retry-After does not raise the limit of failures, nor shorten the backoff', () => {
  expect(delay(failure('rate_limited', 1_000), 9, 0)).toBe(60_000);
  expect(delay(failure('rate_limited', 0), 1, 0)).toBe(500);
  expect(delay(failure('rate_limited', 1_000), 10, 0)).toBeNull();
});

const someRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const someRetried = fc.constantFrom(...retried);

test('a backoff is between half and all of its step, in whole milliseconds', () => {
  fc.assert(
    fc.property(someRetried, fc.integer({ min: 1, max: 12 }), someRandom, (name, failures, random) => {
      const rule = FAILURE_RULES[name];
      if (!rule.retried) return;
      const wait = delay(failure(name), failures, random);
      if (failures >= rule.policy.failures) expect(wait).toBeNull();
      else {
        const step = Math.min(rule.policy.ceilingMs, rule.policy.firstMs * 2 ** (failures - 1));
        expect(wait).toBeGreaterThanOrEqual(step / 2);
        expect(wait).toBeLessThanOrEqual(step);
        expect(Number.isInteger(wait)).toBe(true);
      }
    }),
  );
});

test('a Retry-After is never shortened, and extended by a tenth at most', () => {
  fc.assert(
    fc.property(someRetried, fc.nat(LONGEST_RETRY_AFTER_MS), someRandom, (name, asked, random) => {
      const wait = delay(failure(name, asked), 1, random);
      const own = delay(failure(name), 1, random) ?? 0;
      expect(wait).toBeGreaterThanOrEqual(Math.max(asked, own));
      expect(wait).toBeLessThanOrEqual(Math.max(asked * 1.1 + 1, own));
      expect(Number.isInteger(wait)).toBe(true);
    }),
  );
});
