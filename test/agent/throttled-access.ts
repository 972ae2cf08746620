// The access to a model whose key is throttled.
import type { ThrottledAccess } from '../../src/core/run/throttle.ts';
import type { Rig } from './rig.ts';

/** Throttled for so long; a run that waits in place is woken, or not. */
export function throttledFor(rig: Rig, ms: number, isCalled = true): ThrottledAccess {
  const until = rig.now + ms;
  return {
    kind: 'throttled',
    throttle: { id: 't', provider: 'simulated', model: 'm', reason: 'rate_limited', until },
    comeAgainAt: () => until + 5_000,
    turn: async () => isCalled,
  };
}
