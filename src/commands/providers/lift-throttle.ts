/** The operator ends the throttles of a model: calls begin again at once, gradually. */
import { refuse } from '../../core/errors.ts';
import type { ProviderName } from '../../core/model/model.ts';
import { liftThrottle as lift } from '../../db/write/lift-throttle.ts';
import { done, type OneStatement } from '../perform.ts';

export function liftThrottle(provider: ProviderName, id: string): OneStatement<null> {
  return {
    async statement(executor) {
      const at = await lift(executor, provider, id);
      return at === null
        ? refuse('not_found', `There is no active throttle ${id} of the provider ${provider}.`)
        : done(null, { kind: 'throttle_lifted', lifted: { id, at } });
    },
  };
}
