/**
 * Submissions: jobs that a service adds in a transaction of its own. Such a row becomes a job soon after its commit, with
 * the ids that the service made. If it is refused then, it stays, and is shown as a failed job.
 */
import type { Code } from '../errors.ts';

/** `queued`: a worker process has yet to make a job of it. */
export const SUBMISSION_STATUSES = ['queued', 'failed', 'cancelled'] as const;
export type SubmissionStatus = (typeof SUBMISSION_STATUSES)[number];

/** Why a submission became no job: codes with which the API refuses such a request. One that only has to wait stays. */
export const SUBMISSION_CODES = [
  'not_found',
  'invalid_request',
  'unknown_role',
  'unknown_model',
  'forbidden',
  'worker_stopped',
  'quota_exceeded',
] as const satisfies readonly Code[];
export type SubmissionCode = (typeof SUBMISSION_CODES)[number];

export type SubmissionError = { code: SubmissionCode; message: string };

/** Of the JSON text of a submission, in bytes: as much as a request to the API may have. */
export const SUBMISSION_BYTES = 16 * 1024 * 1024;

export function submissionError({ code, message }: { code: Code; message: string }): SubmissionError {
  return { code: SUBMISSION_CODES.find((known) => known === code) ?? 'invalid_request', message };
}
