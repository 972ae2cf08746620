/** Work of tenants that was admitted, for requests that wait for its end. */
import type { TenantId } from '../../core/ids.ts';

export type UnderWay = {
  /** Resolves when some of the tenant ends, or after `ms`. */
  nextEnd(id: TenantId, ms: number): Promise<void>;
  ended(id: TenantId): void;
};

export function createUnderWay(): UnderWay {
  const waiting = new Map<TenantId, Set<() => void>>();
  return {
    async nextEnd(id, ms) {
      const of = waiting.get(id) ?? new Set();
      waiting.set(id, of);
      const { promise, resolve } = Promise.withResolvers<void>();
      of.add(resolve);
      const timer = setTimeout(resolve, ms);
      await promise;
      clearTimeout(timer);
      of.delete(resolve);
      if (of.size === 0 && waiting.get(id) === of) waiting.delete(id);
    },
    ended(id) {
      const of = waiting.get(id);
      waiting.delete(id);
      for (const resolve of of ?? []) resolve();
    },
  };
}
