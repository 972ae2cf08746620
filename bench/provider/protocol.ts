/** The requests to the fake provider. */
import type { Script } from './script.ts';

/** `closed`: the client closed the connection before the end of the response. `at`: on the monotonic clock. */
export type Observation = { kind: 'request' | 'closed'; mark: string; at: number };

export type ProviderProtocol = {
  listen: { asks: null; answers: number };
  /** Sets the script. Forgets all observations and counts. */
  play: { asks: Partial<Script>; answers: void };
  /** Since the last request. */
  observed: { asks: null; answers: Observation[] };
  /** Since the last request, if the script keeps them. */
  prompts: { asks: null; answers: string[] };
  /** Resolves when this many runs have received their last answer. */
  untilFinals: { asks: number; answers: void };
  /** Resolves when this many calls are in progress at once. */
  untilOpen: { asks: number; answers: void };
  counts: { asks: null; answers: { requests: number; open: number; finals: number } };
};
