/** Reads what is needed of a submission to store it. All else is checked before it becomes a job. */
import { parseId, type ContextId, type JobId, type WorkerId } from '../../core/ids.ts';
import { parseUser } from '../../core/access/user.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { OutboxError, SubmissionPlace } from '../../core/submissions/outbox.ts';

export function readPlace(submission: string): SubmissionPlace | OutboxError {
  const body = parse(submission);
  if (body === null) return invalid('it is no JSON object.');
  const [jobId, contextId] = [idIn<JobId>(body, 'job_id'), idIn<ContextId>(body, 'context_id')];
  if (jobId === null || contextId === null) return invalid('job_id and context_id must be UUIDs.');
  if (body['worker_id'] === undefined) return { jobId, contextId, creates: null };
  const workerId = idIn<WorkerId>(body, 'worker_id');
  if (workerId === null) return invalid('worker_id must be a UUID.');
  return { jobId, contextId, creates: { workerId, user: parseUser(body['user']) } };
}

/** Null: it is no JSON object. */
function parse(text: string): JsonObject | null {
  try {
    const value: Json = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function idIn<Id extends JobId | ContextId | WorkerId>(body: JsonObject, name: string): Id | null {
  const value = body[name];
  return typeof value === 'string' ? parseId<Id>(value) : null;
}

function invalid(why: string): OutboxError {
  return { code: 'invalid_request', message: `The submission is not valid: ${why}` };
}
