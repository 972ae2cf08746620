/**
 * The ledger: one entry for each time a call was run. Of a `once` call it is written in two commits, with the mark before
 * it begins and with what came of it; of others in one, with the result. So an entry without an end is a `once` call that is
 * running, or whose process died; of another call that a crash cut off, the ledger knows nothing, and it runs again.
 */
import type { Millis } from './time.ts';

/**
 * `cancelled`: marked, and not begun. `unknown`: nobody saw it end. `did_not_happen`: nobody saw it end, and somebody who
 * knows said since that it had no effect.
 */
export const EXECUTION_OUTCOMES = ['completed', 'failed', 'cancelled', 'unknown', 'did_not_happen'] as const;
export type ExecutionOutcome = (typeof EXECUTION_OUTCOMES)[number];

/** `beganAt` null: its begin is in the ledger. */
export type ExecutionEnd = { beganAt: Millis | null; outcome: ExecutionOutcome };

/** What a person says to a call whose outcome is unknown. `tell`: nobody knows, and the model is told so. */
export const RESOLUTIONS = ['happened', 'did_not_happen', 'tell'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];
