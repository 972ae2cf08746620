/** Jobs that a service submitted in its own transaction. */
import type { Job, JobFailure } from 'nightshift/client';

/** The codes with which the API refuses an input. */
const REFUSALS: readonly JobFailure['code'][] = [
  'not_found',
  'invalid_request',
  'unknown_role',
  'unknown_model',
  'forbidden',
  'worker_stopped',
  'quota_exceeded',
];

/** Whether the submission was refused: there is no job, and its input is in no history. */
export function isRefusedSubmission({ status, started_at, error }: Job): boolean {
  return status === 'failed' && started_at === null && error !== null && REFUSALS.includes(error.code);
}
