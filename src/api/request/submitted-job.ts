/**
 * Checks submissions: when a service makes one, and again before it becomes a job, because the service may be of another
 * version, or may have written the row itself.
 */
import type { ReadSubmission } from '../../commands/submissions/turn-submissions.ts';
import type { SubmissionTarget, SubmittedJob } from '../../commands/submissions/submitted-job.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import { once } from '../../core/once.ts';
import { isInOrder, parseId, type JobId, type MessageId, type WorkerId } from '../../core/ids.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import type { Allow, AllowedTenant } from '../../core/access/tenant.ts';
import { parseTraceParent } from '../../core/tracing/trace-parent.ts';
import type { WorkerConfig } from '../../core/workers/settings.ts';
import { ALL_ALLOWED } from '../../core/workers/allowed-names.ts';
import { RequestRefused, invalid } from '../response/problem.ts';
import { ContextSubmission, WorkerSubmission } from '../schemas/jobs/submission.ts';
import { refusedName, type KnownCatalog } from '../server/catalog.ts';
import type { ApiPorts } from '../server/ports.ts';
import { roleAtOccurrence } from './scheduled-worker.ts';
import { toFirstInput } from './submit.ts';
import { createChecker } from './validation.ts';

const checkers = once(() => ({
  worker: createChecker(WorkerSubmission),
  context: createChecker(ContextSubmission),
}));

/** A service names users itself. */
const SERVICE = { token: null, user: null };

type Parsed = { kind: 'parsed'; job: SubmittedJob };

/** Refused: `invalid_request`, with all faults. */
export function parseSubmission(body: Json): Parsed | Refusal {
  if (!isJsonObject(body)) return refuse('invalid_request', 'The submission must be an object.');
  const { worker, context } = checkers();
  const refusal = 'worker_id' in body ? worker(body, []) : context(body, []);
  if (refusal !== null) return refusal;
  try {
    return { kind: 'parsed', job: toJob(body as WorkerSubmission | ContextSubmission) };
  } catch (error) {
    if (error instanceof RequestRefused) return error.refusal;
    throw error;
  }
}

function toJob(body: WorkerSubmission | ContextSubmission): SubmittedJob {
  const [jobId, messageId] = [parseId<JobId>(body.job_id), parseId<MessageId>(body.message_id)];
  if (jobId === null || messageId === null) throw new Error('The id of a submission passed the schema.');
  if (!isInOrder(jobId)) throw invalid('job_id must be a UUID of version 7.', 'job_id');
  const poster = { ...SERVICE, traceParent: parseTraceParent(body.traceparent ?? '') };
  if ('worker_id' in body) return { jobId, messageId, target: toWorker(body), input: toFirstInput(poster, body.input) };
  const { branch, user, ...input } = body.input;
  const target = { kind: 'context', branch: branch ?? null } as const;
  return { jobId, messageId, target, input: { ...toFirstInput(poster, input), user: user ?? null } };
}

function toWorker({ worker_id, name, user, role, config = {} }: WorkerSubmission): SubmissionTarget {
  const workerId = parseId<WorkerId>(worker_id);
  if (workerId === null) throw new Error('The id of a worker passed the schema.');
  return { kind: 'worker', workerId, name, user: user ?? null, role: role ?? null, config };
}

/**
 * What a service checks before it submits: all that needs no database. Null: valid. Refused: `invalid_request`,
 * `unknown_model`.
 */
export async function submissionRefusal(catalog: KnownCatalog, body: Json): Promise<Refusal | null> {
  const parsed = parseSubmission(body);
  if (parsed.kind === 'refused') return parsed;
  const { target } = parsed.job;
  return target.kind === 'context' ? null : refusedConfig(catalog, ALL_ALLOWED, target.config);
}

/** Names that no worker process serves just now are accepted. */
function refusedConfig(catalog: KnownCatalog, allow: Allow, config: WorkerConfig): Promise<Refusal | null> {
  return refusedName({ catalog: { ...catalog, names: async () => null } }, allow, config);
}

/**
 * Before it becomes a job. Names that no worker process serves just now are accepted: the job waits for a process that
 * serves them. Refused: `invalid_request`, `unknown_model`, `forbidden`, `unknown_role`.
 */
export async function readSubmission(
  ports: Pick<ApiPorts, 'catalog' | 'database'>,
  tenant: AllowedTenant,
  body: Json,
): Promise<ReadSubmission | Refusal> {
  const parsed = parseSubmission(body);
  if (parsed.kind === 'refused') return parsed;
  const { job } = parsed;
  if (job.target.kind === 'context') return { kind: 'read', job, role: null };
  const refusal = await refusedConfig(ports.catalog, tenant.allow, job.target.config);
  if (refusal !== null) return refusal;
  const role = await roleAtOccurrence(ports, tenant, job.target);
  return role.kind === 'refused' ? role : { kind: 'read', job, role: role.role };
}
