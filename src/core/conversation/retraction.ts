/** Why a message is stored but is not part of the history. */
import type { Actor } from '../access/actor.ts';
import type { ActiveJob, JobEnd } from '../run/job.ts';
import type { Millis } from '../time.ts';

/**
 * `cancel`, `stop`, `interrupt`: a stop request of this kind. `deadline`: the job passed its deadline. `refused`: the
 * provider refused to answer. `failed`: the model call failed, and was not tried again.
 */
export const RETRACTION_CAUSES = ['cancel', 'stop', 'interrupt', 'deadline', 'refused', 'failed'] as const;
export type RetractionCause = (typeof RETRACTION_CAUSES)[number];

/** `at`: when the stop was requested, else when the job ended. `by`: who requested it; null: not known, or no request. */
export type Retraction = { cause: RetractionCause; at: Millis; by: Actor | null };

/** Null: the job has no stop request. */
export function stoppedWith({ stopRequest }: Pick<ActiveJob, 'stopRequest'>): Retraction | null {
  if (stopRequest === null) return null;
  const { kind, requestedAt, by } = stopRequest;
  return { cause: kind, at: requestedAt, by };
}

/** Of the answer that was not finished when its job ended. Null: it was finished. */
export function retractionAtEnd({ job, outcome }: JobEnd, now: Millis): Retraction | null {
  switch (outcome.status) {
    case 'completed':
      return null;
    case 'incomplete':
      return { cause: 'deadline', at: now, by: null };
    case 'failed':
      return { cause: outcome.error.code === 'provider_refused' ? 'refused' : 'failed', at: now, by: null };
    case 'cancelled':
    case 'interrupted':
      return stoppedWith(job);
  }
}
