/** Says of each answer what it cost, by the prices of this process: an answer keeps the price it was made at. */
import { costOf } from '../core/cost.ts';
import type { Prices } from '../core/cost.ts';
import { formatModelName } from '../core/model.ts';
import type { Model } from '../core/model.ts';

/** The model that was asked for has the price, by whatever name the provider calls what answered. */
export function priced(model: Model, prices: Prices): Model {
  return {
    async call(request, listener, signal) {
      const outcome = await model.call(request, listener, signal);
      const price = prices.get(formatModelName(request.model));
      if (outcome.kind !== 'done' || price === undefined) return outcome;
      const { answer } = outcome;
      const usage = { ...answer.usage, cost_nanos: costOf(answer.usage, price) };
      return { kind: 'done', answer: { ...answer, usage } };
    },
  };
}
