/**
 * Retries a job that ended without completing: a new job of kind `retry` answers the history that it left, with the same
 * options. The row of its context is locked before it is checked, so that of two retries at once one finds the other.
 *
 * - Written: one job, and its webhook, if it had one.
 * - After the commit: a wake-up, if the context is due and no process runs it.
 * - Not retried: nothing is written.
 */
import type { User } from '../../core/access/user.ts';
import type { Code, Refusal } from '../../core/errors.ts';
import type { ContextId, Ids, JobId, TenantId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import { noSuchJob, whyNotRetried, type RetryRefusal, type RetryRefusalCode } from '../../core/run/retriable.ts';
import type { TraceParent } from '../../core/tracing/trace-parent.ts';
import { findJobOptions } from '../../db/read/jobs/job-options.ts';
import { factsOfJobs } from '../../db/read/jobs/retriable.ts';
import { nameWebhook } from '../../db/webhooks/webhooks.ts';
import { lockContext } from '../../db/write/contexts/branches.ts';
import { NORMAL, enqueueInput } from '../inputs/enqueue.ts';
import { done, type Command } from '../perform.ts';

export type RetriedJob =
  | { kind: 'retried'; jobId: JobId; contextId: ContextId; retryJobId: JobId }
  | { kind: 'refused'; jobId: JobId; refusal: RetryRefusal };

export type RetryJob = {
  tenantId: TenantId;
  jobId: JobId;
  contextId: ContextId;
  /** The end user that the request proves; null: the retry runs on behalf of the user of the job. */
  user: User | null;
  /** Of a token: members that its jobs always have, and no priority before the usual one. Null: the options stay. */
  token: { metadata: JsonObject } | null;
  traceParent: TraceParent | null;
  queueLimit: number;
  /** Why the tenant may have no more jobs, or no more content; null: it may. */
  full: Refusal | null;
};

export function retryJob({ ids }: { ids: Ids }, wanted: RetryJob): Command<RetriedJob> {
  const { tenantId, jobId, contextId, token, traceParent, queueLimit, full } = wanted;
  const refused = (refusal: RetryRefusal): RetriedJob => ({ kind: 'refused', jobId, refusal });
  return async (tx) => {
    const isThere = await lockContext(tx, { tenantId, contextId });
    const [facts] = isThere ? await factsOfJobs(tx, tenantId, [jobId]) : [];
    const options = facts === undefined ? null : await findJobOptions(tx, tenantId, jobId);
    if (facts === undefined || options === null) return done(refused(noSuchJob(jobId)));
    const refusal = whyNotRetried(facts);
    if (refusal !== null) return done(refused(refusal));
    const { webhookId, user, priority, metadata, maxSteps, outputSchema, deadline } = options;
    const outcome = await enqueueInput(tx, ids, {
      tenantId,
      contextId,
      delivery: 'queue',
      content: null,
      branch: facts.branch,
      priority: token === null ? priority : Math.max(priority, NORMAL),
      metadata: { ...metadata, ...token?.metadata },
      user: wanted.user ?? user,
      maxSteps,
      outputSchema,
      deadline,
      traceParent,
      by: null,
      queueLimit,
      full,
    });
    if (outcome.kind === 'refused') return done(refused(asRetryRefusal(outcome, jobId)));
    const { jobId: retryJobId } = outcome.value;
    if (webhookId !== null) await nameWebhook(tx, { tenantId, contextId, jobId: retryJobId, webhookId });
    return done({ kind: 'retried', jobId, contextId, retryJobId }, ...outcome.afterCommit);
  };
}

const KNOWN: { readonly [Name in Code]?: RetryRefusalCode } = {
  worker_stopped: 'worker_stopped',
  queue_full: 'queue_full',
  quota_exceeded: 'quota_exceeded',
};

function asRetryRefusal({ code, message }: Refusal, jobId: JobId): RetryRefusal {
  const known = KNOWN[code];
  return known === undefined ? noSuchJob(jobId) : { code: known, message };
}
