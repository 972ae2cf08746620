/** What the operator asks of a worker process, and what it does. */

/**
 * `paused`: its runs go on, and it begins no other. `draining`: its runs release their contexts at the next safe point,
 * and then the process ends.
 */
export const PROCESS_STATUSES = ['running', 'paused', 'draining'] as const;
export type ProcessStatus = (typeof PROCESS_STATUSES)[number];

/** `stopped`: it ended by itself. `lost`: another process declared it dead. */
export const END_REASONS = ['stopped', 'lost'] as const;
export type EndReason = (typeof END_REASONS)[number];
