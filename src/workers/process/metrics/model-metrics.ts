/** Metrics of the model calls of a worker process. */
import type { JobCode } from '../../../core/errors.ts';
import type { ModelOutcome, ProviderName } from '../../../core/model/model.ts';
import { NO_USAGE, addUsage, cacheHitRatio, type Usage } from '../../../core/money/usage.ts';
import type { ThrottleReason } from '../../../core/run/throttle.ts';
import { SLOW, seconds, type Instruments } from './instruments.ts';

/** All times are in milliseconds. */
export type ModelMetrics = {
  called(provider: ProviderName, outcome: ModelOutcome, ms: number): void;
  timeToFirstToken(provider: ProviderName, ms: number): void;
  retry(code: JobCode): void;
  throttleSet(provider: ProviderName, reason: ThrottleReason): void;
  throttled(provider: ProviderName): void;
};

export function createModelMetrics(instruments: Instruments): ModelMetrics {
  const { counter, gauge, histogram } = instruments;
  const calls = histogram('model_call_seconds', 'Duration of model calls.', SLOW, ['provider', 'outcome']);
  const firstTokens = histogram('time_to_first_token_seconds', 'Time to the first token of an answer.', SLOW, [
    'provider',
  ]);
  const answered = gauge('model_answered_timestamp_seconds', 'Time of the last answer from a provider.', ['provider']);
  const failed = gauge('model_failed_timestamp_seconds', 'Time of the last failed model call.', ['provider']);
  const failures = counter('model_failures_total', 'Failed model calls.', ['provider', 'class']);
  const retries = counter('retries_total', 'Retries of model calls.', ['code']);
  const throttles = counter(
    'provider_throttles_total',
    'Throttles that this process set because a provider refused a call.',
    ['provider', 'reason'],
  );
  const throttled = counter('throttled_calls_total', 'Model calls put off because of a throttle.', ['provider']);
  const countUsage = createUsageCounter(instruments);
  return {
    called(provider, outcome, ms) {
      calls.observe({ provider, outcome: outcome.kind }, seconds(ms));
      if (outcome.kind === 'failed') {
        failures.inc({ provider, class: outcome.failure.class });
        failed.setToCurrentTime({ provider });
      }
      if (outcome.kind === 'done') {
        countUsage(provider, outcome.answer.usage);
        answered.setToCurrentTime({ provider });
      }
    },
    timeToFirstToken: (provider, ms) => firstTokens.observe({ provider }, seconds(ms)),
    retry: (code) => retries.inc({ code }),
    throttleSet: (provider, reason) => throttles.inc({ provider, reason }),
    throttled: (provider) => throttled.inc({ provider }),
  };
}

/** Counts tokens and cost, and keeps the cache hit ratio since the process started. */
function createUsageCounter({ counter, gauge }: Instruments): (provider: ProviderName, usage: Usage) => void {
  const tokens = counter('tokens_total', 'Tokens by kind.', ['provider', 'kind']);
  const dollars = counter('cost_dollars_total', 'Cost of answers from models with a price.', ['provider']);
  const unpriced = counter('unpriced_calls_total', 'Answers from models without a price.', ['provider']);
  const hits = gauge(
    'cache_hit_ratio',
    'Share of prompt tokens read from the provider cache, since the process started.',
    ['provider'],
  );
  const totals = new Map<ProviderName, Usage>();
  return (provider, usage) => {
    tokens.inc({ provider, kind: 'input' }, usage.input_tokens);
    tokens.inc({ provider, kind: 'output' }, usage.output_tokens);
    tokens.inc({ provider, kind: 'cache_read' }, usage.cache_read_tokens);
    tokens.inc({ provider, kind: 'cache_write' }, usage.cache_write_tokens);
    if (usage.cost_nanos === null) unpriced.inc({ provider });
    else dollars.inc({ provider }, usage.cost_nanos / 1e9);
    const total = addUsage(totals.get(provider) ?? NO_USAGE, usage);
    totals.set(provider, total);
    hits.set({ provider }, cacheHitRatio(total) ?? 0);
  };
}
