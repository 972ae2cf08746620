/**
 * The execution ledger: one entry per run of a call. A `once` call is written in two commits: a mark before it
 * starts, and its outcome. Other calls are written in one commit, with the result. So an entry without an end is a
 * `once` call that is running or whose process died. For any other call interrupted by a crash the ledger has no
 * entry, and the call runs again.
 */
import type { Millis } from '../time.ts';

/**
 * `cancelled`: marked but not started. `unknown`: no process saw it end. `did_not_happen`: no process saw it end, and
 * a person reported later that it had no effect.
 */
export const EXECUTION_OUTCOMES = ['completed', 'failed', 'cancelled', 'unknown', 'did_not_happen'] as const;
export type ExecutionOutcome = (typeof EXECUTION_OUTCOMES)[number];

/** `beganAt` null: the ledger already has the start. */
export type ExecutionEnd = { beganAt: Millis | null; outcome: ExecutionOutcome };

/**
 * A person's answer for a call whose outcome is unknown. `tell`: the person does not know either, and the model is
 * told so.
 */
export const RESOLUTIONS = ['happened', 'did_not_happen', 'tell'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];
