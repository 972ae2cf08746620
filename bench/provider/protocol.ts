/** What the fake provider can be asked. */
import type { Script } from './script.ts';

/** `closed`: by the caller, before the answer was whole. `at` is of the monotonic clock. */
export type Observation = { kind: 'request' | 'closed'; mark: string; at: number };

export type ProviderProtocol = {
  listen: { asks: null; answers: number };
  /** From now on; forgets what was observed and counted. */
  play: { asks: Partial<Script>; answers: void };
  /** Since one last asked. */
  observed: { asks: null; answers: Observation[] };
  /** Once so many runs had their last answer. */
  untilFinals: { asks: number; answers: void };
  /** Once so many calls are being answered at once. */
  untilOpen: { asks: number; answers: void };
  counts: { asks: null; answers: { requests: number; open: number; finals: number } };
};
