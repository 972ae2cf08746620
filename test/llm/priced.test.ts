// The cost of an answer: by the requested name of the model, at the prices of the calling process.
import { expect, test } from 'vitest';
import { costOf, type Price, type Prices } from '../../src/core/money/cost.ts';
import { createModels } from '../../src/llm/models.ts';
import { answerOf, ask, failureOf, modelFor, request, user } from './model-calls.ts';

const PRICE: Price = { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 };
const PRICES: Prices = new Map([['simulated/test-model', PRICE]]);

const call = (script: string, name = 'test-model', prices = PRICES) =>
  ask(
    modelFor(createModels({ idleTimeoutMs: 1_000, prices }), 'simulated'),
    request('simulated', { model: { provider: 'simulated', model: name }, messages: [user(script)] }),
  );

test('is that of its tokens at the price of the model', async () => {
  const { usage } = answerOf(await call('say: Good evening.'));
  expect(usage.cost_nanos).toBe(costOf(usage, PRICE));
  expect(usage.cost_nanos).toBeGreaterThan(0);
  expect(usage).toMatchObject({ cache_read_tokens: 0, cache_write_tokens: 0 });
});

test('is unknown for a model without a price, and nothing else is changed', async () => {
  const { usage: asPriced, ...answer } = answerOf(await call('say: Good evening.'));
  for (const [name, prices] of [
    ['test-model', new Map()],
    ['test-model-2', PRICES],
    ['Test-Model', PRICES],
  ] as const) {
    const { usage, ...same } = answerOf(await call('say: Good evening.', name, prices));
    expect(usage.cost_nanos).toBeNull();
    expect(same).toEqual({ ...answer, modelId: name });
  }
  expect(asPriced.cost_nanos).not.toBeNull();
});

test('of no tokens is 0, which is known', async () => {
  const free: Prices = new Map([['simulated/test-model', { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }]]);
  expect(answerOf(await call('say: Hello.', 'test-model', free)).usage.cost_nanos).toBe(0);
});

test('a failed call is returned unchanged', async () => {
  expect(failureOf(await call('fail: overloaded'))).toMatchObject({ class: 'overloaded' });
});
