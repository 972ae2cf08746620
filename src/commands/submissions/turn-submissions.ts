/**
 * Makes jobs of the submissions of a context, in their order and in one transaction: each is removed as its job is
 * inserted, or stays with the reason why it became none. So each becomes a job exactly once, whatever dies, and however
 * many processes try it. One that was submitted twice is one job, because it has the id of its job.
 *
 * The order holds: what is locked by another statement, or has no room yet, holds up those behind it. A refusal that
 * passes by itself (a full queue, a limit on queued jobs) postpones the submission.
 *
 * - Checked: what the API checks of such a request. It never answers a question that waits.
 * - Written: for each submission the statement `jobs.submit` or `workers.create`, and the removal.
 * - After the commit: the wake-up of the context.
 */
import { isRetryable, limitsOf, type TenantLimits } from '../../core/access/quotas.ts';
import { TENANT_INACTIVE } from '../../core/access/tenant.ts';
import type { Refusal } from '../../core/errors.ts';
import type { JobId } from '../../core/ids.ts';
import { submissionError, type SubmissionCode } from '../../core/submissions/submission.ts';
import type { WorkerRole } from '../../core/workers/settings.ts';
import type { Executor } from '../../db/connection/client.ts';
import {
  failSubmission,
  isJob,
  postponeSubmissions,
  removeSubmission,
  takeSubmissions,
  type DueSubmissions,
} from '../../db/submissions/due-submissions.ts';
import { createWorker } from '../../db/write/workers/create.ts';
import { wakeUpIfRunnable } from '../after-commit.ts';
import type { NewJob } from '../../db/write/inputs/submission.ts';
import { PLAIN_JOB, enqueue } from '../inputs/enqueue.ts';
import { branchMissing } from '../inputs/refusals.ts';
import { done, type Command, type Outcome } from '../perform.ts';
import { whyFull } from '../tenants/within-quota.ts';
import type { SubmittedJob } from './submitted-job.ts';

/** Limits of one context, and of tenants that have none of their own. */
export type TurnPorts = { queueLimit: number; tenantLimits: TenantLimits };

/** A submission whose body is read. `role`: of the worker that it creates. */
export type ReadSubmission = { kind: 'read'; job: SubmittedJob; role: WorkerRole | null };

/** Refused: its body is not valid, or names what its tenant may not use. */
export type ReadSubmissions = ReadonlyMap<JobId, ReadSubmission | Refusal>;

/** A submission that became no job. */
export type RefusedSubmission = { jobId: JobId; code: SubmissionCode };

/** `taken`: how many submissions became jobs, or never will. */
export type Turned = { taken: number; refused: readonly RefusedSubmission[] };

/** How long a submission waits for room, in milliseconds. */
const NO_ROOM_MS = 5_000;

/** `read`: the first submissions of the context, in their order. */
export function turnSubmissions(ports: TurnPorts, due: DueSubmissions, read: ReadSubmissions): Command<Turned> {
  return async (tx) => {
    const wakeUps = [];
    const refused: RefusedSubmission[] = [];
    let taken = 0;
    const locked = new Set(await takeSubmissions(tx, due, read.size));
    for (const [id, submission] of read) {
      // Another statement has it, or it is no longer queued. Those behind it must not overtake it.
      if (!locked.has(id)) break;
      const outcome = (await isJob(tx, due.tenantId, id)) ? done(null) : await turn(tx, ports, due, submission);
      if (outcome.kind === 'refused' && outcome.code === 'tenant_suspended') break;
      if (outcome.kind === 'refused' && passesByItself(outcome)) {
        await postponeSubmissions(tx, due, NO_ROOM_MS);
        break;
      }
      if (outcome.kind === 'refused') {
        const error = submissionError(outcome);
        await failSubmission(tx, id, error);
        refused.push({ jobId: id, code: error.code });
      } else {
        await removeSubmission(tx, id);
        wakeUps.push(...outcome.afterCommit);
      }
      taken += 1;
    }
    return done({ taken, refused }, ...wakeUps);
  };
}

function passesByItself({ code, param }: Refusal): boolean {
  return code === 'queue_full' || (code === 'quota_exceeded' && isRetryable(param ?? ''));
}

async function turn(
  tx: Executor,
  { queueLimit, tenantLimits }: TurnPorts,
  { tenantId, contextId, limits }: DueSubmissions,
  read: ReadSubmission | Refusal,
): Promise<Outcome<null>> {
  if (read.kind === 'refused') return read;
  const { target, jobId, messageId, input } = read.job;
  const adds = { queuedJobs: 1, workers: target.kind === 'worker' ? 1 : 0, content: input.content };
  const full = await whyFull(tx, { tenantId, limits: limitsOf(limits, tenantLimits) }, adds);
  if (full !== null) return full;
  const { content, ...options } = input;
  const job: NewJob = { ...options, jobId, input: { messageId, content }, compaction: null };
  if (target.kind === 'worker') {
    const { workerId, name, user, config } = target;
    const worker = { id: workerId, tenantId, contextId, user, name, title: null, role: read.role, config };
    const created = await createWorker(tx, { ...worker, parentWorkerId: null, depth: 0, detached: false }, job);
    return created === null ? TENANT_INACTIVE : done(null, ...wakeUpIfRunnable(contextId, created.context));
  }
  const place = { tenantId, contextId, branch: target.branch, queueLimit, full };
  const missing = await branchMissing(tx, place);
  if (missing !== null) return missing;
  const queued = await enqueue(tx, { ...PLAIN_JOB, ...job, ...place });
  return queued.kind === 'refused' ? queued : done(null, ...queued.wakeUps);
}
