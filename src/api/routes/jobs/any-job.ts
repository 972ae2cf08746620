/**
 * Jobs, and submissions that are no jobs yet or became none. A submission becomes a job in one transaction: who misses it
 * in both tables looks once more among the jobs.
 */
import { cancelJob } from '../../../commands/jobs/cancel-job.ts';
import { perform } from '../../../commands/perform.ts';
import type { JobId, TenantId } from '../../../core/ids.ts';
import { findJob } from '../../../db/read/jobs/job-views.ts';
import type { WorkerOfJob } from '../../../db/read/jobs/shown-of-job.ts';
import type { Why } from '../../../db/run/stop-requests.ts';
import { findReceipt } from '../../../db/run/receipts.ts';
import { cancelSubmission, findSubmittedJob } from '../../../db/submissions/submitted-jobs.ts';
import type { Job, Receipt } from '../../schemas/jobs/job.ts';
import { modelOf } from '../../response/roles.ts';
import type { ApiPorts } from '../../server/ports.ts';
import { toJob, toReceipt, toSubmittedJob, toSubmittedReceipt } from '../../wire/job.ts';

type JobKey = { tenantId: TenantId; jobId: JobId };

/** Null: the tenant has no such job. */
export async function findAnyJob(ports: ApiPorts, { tenantId, jobId }: JobKey): Promise<Job | null> {
  const { db } = ports.database;
  const modelIn = (worker: WorkerOfJob): string => modelOf(ports, worker);
  const job = await findJob(db, tenantId, jobId);
  if (job !== null) return toJob(job, modelIn);
  const submitted = await findSubmittedJob(db, tenantId, jobId);
  if (submitted !== null) return toSubmittedJob(submitted, modelIn);
  const turned = await findJob(db, tenantId, jobId);
  return turned === null ? null : toJob(turned, modelIn);
}

/** False: the tenant has no such job. One that has ended stays as it is. */
export async function cancelAnyJob(ports: ApiPorts, key: JobKey, why: Why): Promise<boolean> {
  const cancel = async (): Promise<boolean> =>
    (await perform(ports, cancelJob(ports, { ...key, ...why }))).kind === 'done';
  if (await cancel()) return true;
  const { tenantId, jobId } = key;
  const { db } = ports.database;
  if (await cancelSubmission(db, tenantId, jobId)) return true;
  return (await findSubmittedJob(db, tenantId, jobId)) !== null || cancel();
}

/** Null: the tenant has no such job. */
export async function findAnyReceipt({ database }: ApiPorts, { tenantId, jobId }: JobKey): Promise<Receipt | null> {
  const receipt = await findReceipt(database.db, tenantId, jobId);
  if (receipt !== null) return toReceipt(jobId, receipt);
  const submitted = await findSubmittedJob(database.db, tenantId, jobId);
  return submitted === null ? null : toSubmittedReceipt(submitted);
}
