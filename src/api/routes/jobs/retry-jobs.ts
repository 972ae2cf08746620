/**
 * Retries several jobs, by ids or by filter. Each job is retried in its own transaction, which also has its audit entry
 * and, under an `Idempotency-Key`, what happened to it. So a repeated request goes on where the first one was cut off.
 */
import type { Static } from 'typebox';
import { mapConcurrent } from '../../../commands/map-concurrent.ts';
import { done } from '../../../commands/perform.ts';
import { retryJob, type RetriedJob } from '../../../commands/jobs/retry-job.ts';
import { parseId, type ContextId, type JobId, type WorkerId } from '../../../core/ids.ts';
import { noSuchJob, whyNotRetried, type RetryFacts } from '../../../core/run/retriable.ts';
import type { JobFilter } from '../../../db/read/jobs/job-filter.ts';
import { chooseJobs, factsOfJobs } from '../../../db/read/jobs/retriable.ts';
import { ref } from '../../../schema/build.ts';
import { reachOf, visibleTo, type TracedCaller } from '../../access/reach.ts';
import { ONE_JOB } from '../../quotas/room.ts';
import { audited, type AuditedBy } from '../../request/audited.ts';
import { cursorOf, id } from '../../request/cursor.ts';
import { parseInstant } from '../../request/instant.ts';
import { readOnce, stepOnce, writeAround, type WriteRequest } from '../../request/write.ts';
import { invalid } from '../../response/problem.ts';
import { pageReaderOf, type Reader } from '../../response/reads.ts';
import { WriteHeaders } from '../../schemas/common.ts';
import { RetriedJobs, RetryJobs, type RetriedJob as Wire, type RetryFilter } from '../../schemas/jobs/retry-jobs.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import type { LimitedTenant } from '../../../commands/tenants/within-quota.ts';

/** Extra time in milliseconds: one transaction for each job. After it the API answers 503; the client retries. */
const TIMEOUT_MS = 60_000;

/** Jobs of one page, if the request does not say. */
const PAGE = 200;

const PLACE = cursorOf(id<JobId>);

type Caller = TracedCaller & AuditedBy & LimitedTenant & WriteRequest;
type Body = Static<typeof RetryJobs>;
type Chosen = { ids: JobId[]; next: string | null };

export function retryJobsRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/jobs/retry',
    {
      config: { access: 'run', tokens: 'filtered', timeoutMs: TIMEOUT_MS },
      schema: {
        summary: 'Retry jobs that ended without completing, by ids or by filter. Safe to repeat',
        operationId: 'retryJobs',
        tags: ['jobs'],
        headers: WriteHeaders,
        body: ref(RetryJobs),
        response: { 200: ref(RetriedJobs) },
      },
    },
    (request, reply) => retryChosen(ports, request, request.body, pageReaderOf(ports, reply)),
  );
}

async function retryChosen(ports: ApiPorts, caller: Caller, body: Body, read: Reader): Promise<RetriedJobs> {
  const choose = chooserOf(caller, body, read);
  if (body.dry_run === true) return dryRun(caller, await choose(), read);
  return writeAround(ports, caller, async () => {
    // A repeated request takes the jobs of the first one, whatever matches by then.
    const chosen = await readOnce(ports, caller, 'begun', choose);
    return done(await retryAll(ports, caller, chosen, read));
  });
}

/** Throws `invalid_request` at once, if the request names no jobs. */
function chooserOf(caller: Caller, body: Body, read: Reader): () => Promise<Chosen> {
  const { ids, filter, limit = PAGE, cursor } = body;
  if (ids !== undefined && filter !== undefined) throw invalid('Give ids or filter, not both.', 'filter');
  if (ids !== undefined) {
    if (cursor !== undefined) throw invalid('A cursor belongs to a filter. Leave it out.', 'cursor');
    const named = new Set(ids.flatMap((one) => parseId<JobId>(one) ?? []));
    return async () => ({ ids: [...named], next: null });
  }
  if (filter === undefined) throw invalid('Give ids, or a filter.', 'ids');
  if (Object.keys(filter).length === 0)
    throw invalid('The filter is empty. Give at least one member, such as status.', 'filter');
  const wanted = toFilter(caller, filter);
  const [after] = PLACE.read(cursor) ?? [null];
  return async () => {
    const choice = { filter: wanted, q: filter.q ?? null, after, limit };
    const { ids: chosen, upto } = await read((_, last) => chooseJobs(last, caller.tenantId, choice));
    return { ids: chosen, next: upto === null ? null : PLACE.write([upto]) };
  };
}

function toFilter(caller: Caller, filter: Static<typeof RetryFilter>): JobFilter {
  return {
    ...visibleTo(caller, filter.user),
    statuses: filter.status === undefined ? ['failed', 'incomplete'] : [filter.status].flat(),
    kind: filter.kind ?? null,
    role: filter.role ?? null,
    metadata: filter.metadata ?? null,
    contextId: parseId<ContextId>(filter.context_id ?? ''),
    workerId: parseId<WorkerId>(filter.worker_id ?? ''),
    parentJobId: parseId<JobId>(filter.parent_job_id ?? ''),
    createdAfter: parseInstant(filter.created_after, 'filter.created_after'),
    createdBefore: parseInstant(filter.created_before, 'filter.created_before'),
  };
}

async function factsOf(caller: Caller, ids: readonly JobId[], read: Reader): Promise<Map<string, RetryFacts>> {
  const facts = await read((_, last) => factsOfJobs(last, caller.tenantId, ids, reachOf(caller)));
  return new Map(facts.map((one) => [one.jobId, one]));
}

async function dryRun(caller: Caller, { ids, next }: Chosen, read: Reader): Promise<RetriedJobs> {
  const facts = await factsOf(caller, ids, read);
  const data = ids.map((jobId): Wire => {
    const found = facts.get(jobId);
    const error = found === undefined ? noSuchJob(jobId) : whyNotRetried(found);
    return { id: jobId, context_id: found?.contextId ?? null, retry_job_id: null, error };
  });
  return toAnswer(data, next);
}

async function retryAll(ports: ApiPorts, caller: Caller, { ids, next }: Chosen, read: Reader): Promise<RetriedJobs> {
  const facts = await factsOf(caller, ids, read);
  const data = await mapConcurrent(ids, async (jobId): Promise<Wire> => {
    const found = facts.get(jobId);
    if (found === undefined) return { id: jobId, context_id: null, retry_job_id: null, error: noSuchJob(jobId) };
    const { contextId } = found;
    const retried = await retryOne(ports, caller, found);
    return retried.kind === 'retried'
      ? { id: jobId, context_id: contextId, retry_job_id: retried.retryJobId, error: null }
      : { id: jobId, context_id: contextId, retry_job_id: null, error: retried.refusal };
  });
  return toAnswer(data, next);
}

/** Checked again under the lock of its context, also if it could not be retried before: under a key it may be a repeat. */
function retryOne(ports: ApiPorts, caller: Caller, { jobId, contextId }: RetryFacts): Promise<RetriedJob> {
  const { tenantId, user, token, traceParent } = caller;
  return ports.rooms.admit(caller, ONE_JOB, (full) => {
    const { queueLimit } = ports.config;
    const command = retryJob(ports, {
      tenantId,
      jobId,
      contextId,
      user: token === null ? null : user,
      token,
      traceParent,
      queueLimit,
      full,
    });
    const withEntry = audited(ports, { request: caller, tenantId }, command, (retried) =>
      retried.kind === 'refused'
        ? []
        : [{ action: 'job.retried', target: jobId, detail: { retry_job_id: retried.retryJobId } }],
    );
    return stepOnce(ports, caller, jobId, withEntry);
  });
}

function toAnswer(data: Wire[], next: string | null): RetriedJobs {
  const refused = data.filter(({ error }) => error !== null).length;
  return { data, next_cursor: next, retried: data.length - refused, refused };
}
