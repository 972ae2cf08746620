/** Adds the cost to each answer, using the prices of this process at the time of the call. */
import { costOf, type Prices } from '../core/money/cost.ts';
import { formatModelName, type Model } from '../core/model/model.ts';

/** The price is that of the requested model, regardless of the name in the provider's answer. */
export function priced(model: Model, prices: Prices): Model {
  return {
    isLoaded: () => model.isLoaded(),
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
