/** Jobs: read, waited for, cancelled. */
import type { Static } from 'typebox';
import { refuse } from '../../../core/errors.ts';
import { parseId, type ContextId, type JobId, type WorkerId } from '../../../core/ids.ts';
import type { Watched } from '../../../db/read/jobs/watched-jobs.ts';
import { JOB_FIGURES as SORTED, type JobOrder } from '../../../db/read/jobs/find-jobs.ts';
import { findQueuedJobs } from '../../../db/read/jobs/queued-jobs.ts';
import type { LimitedTenant } from '../../../commands/tenants/within-quota.ts';
import type { Executor } from '../../../db/connection/client.ts';
import { queuedReason } from './queued-reason.ts';
import { isFound, listJobs, type JobView } from '../../../db/read/jobs/job-views.ts';
import type { WorkerOfJob } from '../../../db/read/jobs/shown-of-job.ts';
import { parseInstant } from '../../request/instant.ts';
import { parseObject, splitLists } from '../../request/query.ts';
import { cursorOf, id, real } from '../../request/cursor.ts';
import { cancelAnyJob, findAnyJob, findAnyReceipt } from './any-job.ts';
import { toListing } from '../../response/page.ts';
import type { Names } from '../../server/catalog.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { actorOf } from '../../access/actor.ts';
import { visibleTo } from '../../access/reach.ts';
import { orNotFound } from '../../response/problem.ts';
import { modelOf } from '../../response/roles.ts';
import { readerOf } from '../../response/reads.ts';
import { WriteHeaders } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { CancelJob, Job, JobList, JobQuery, Receipt, WaitQuery } from '../../schemas/jobs/job.ts';
import { signalOf } from '../../response/signal.ts';
import { toJob } from '../../wire/job.ts';
import { writeAround } from '../../request/write.ts';
import { IdParams, jobId, noJob } from '../params.ts';

const tags = ['jobs'];

const PLACE = cursorOf(id<JobId>);
/** Of a list by a figure. */
const FIGURE = cursorOf(real, id<JobId>);

export function jobRoutes(app: App, ports: ApiPorts): void {
  listJobsRoute(app, ports);
  getJobRoute(app, ports);
  cancelJobRoute(app, ports);
}

const NO_WHYS: ReadonlyMap<JobId, string> = new Map();

function listJobsRoute(app: App, ports: ApiPorts): void {
  const modelIn = (worker: WorkerOfJob): string => modelOf(ports, worker);
  const whysOf = async (
    executor: Executor,
    { tenantId, limits: { slots } }: LimitedTenant,
    queued: readonly JobView[],
    names: Names | null,
  ): Promise<ReadonlyMap<JobId, string>> => {
    const known = { times: ports.times, areSlotsLimited: slots !== undefined };
    const ids = queued.map(({ id: one }) => one);
    const found = await findQueuedJobs(executor, tenantId, ids, known);
    return new Map(found.map((one) => [one.id, queuedReason(one, { names, ...(slots !== undefined && { slots }) })]));
  };
  app.get(
    '/api/jobs',
    {
      config: { access: 'read', tokens: 'filtered' },
      preValidation: splitLists('status'),
      schema: {
        summary: 'Jobs, newest first; sorted and searched by text on demand',
        operationId: 'listJobs',
        tags,
        querystring: JobQuery,
        response: { 200: ref(JobList) },
      },
    },
    async (request, reply) => {
      const { tenantId, query } = request;
      const order = orderOf(query);
      const filter = {
        ...visibleTo(request, query.user),
        statuses: query.status === undefined ? null : [query.status].flat(),
        kind: query.kind ?? null,
        role: query.role ?? null,
        metadata: parseObject(query.metadata, 'metadata'),
        contextId: parseId<ContextId>(query.context_id ?? ''),
        workerId: parseId<WorkerId>(query.worker_id ?? ''),
        parentJobId: parseId<JobId>(query.parent_job_id ?? ''),
        createdAfter: parseInstant(query.created_after, 'created_after'),
        createdBefore: parseInstant(query.created_before, 'created_before'),
      };
      const wanted = { filter, q: query.q ?? null, order, limit: query.limit + 1 };
      const read = readerOf(ports, reply);
      const { upto, figures, ...page } = await read((tx, last) =>
        listJobs(isFound(wanted) ? tx : last, tenantId, wanted),
      );
      const isAsked = query.include === 'why';
      const queued = isAsked ? page.items.filter(({ status }) => status === 'queued') : [];
      // Before the read, which would hold one connection while it waits for another.
      const names = queued.length === 0 ? null : await ports.catalog.beginningNames();
      const whys = queued.length === 0 ? NO_WHYS : await read((_, last) => whysOf(last, request, queued, names));
      const listing = toListing(
        page,
        query.limit,
        (job) => {
          const why = whys.get(job.id);
          return { ...toJob(job, modelIn), ...(why !== undefined && { why }) };
        },
        ({ id: last }) => (order.by === 'created' ? PLACE.write([last]) : FIGURE.write([figures.get(last) ?? 0, last])),
      );
      return { ...listing, next_cursor: listing.next_cursor ?? (upto === null ? null : PLACE.write([upto])) };
    },
  );
}

/** The order of the list, and where its page begins. */
function orderOf({ sort = 'created', cursor }: Pick<Static<typeof JobQuery>, 'sort' | 'cursor'>): JobOrder {
  const by = SORTED.find((one) => sort.endsWith(one)) ?? 'created';
  const descending = !sort.startsWith('-');
  if (by !== 'created') return { by, descending, after: FIGURE.read(cursor) };
  const [after] = PLACE.read(cursor) ?? [null];
  return { by, descending, after };
}

function getJobRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/jobs/:id',
    {
      config: { access: 'read', tokens: 'job' },
      schema: {
        summary: 'One job; with wait_ms the response waits for the job to finish, or to wait for a person',
        operationId: 'getJob',
        tags,
        params: IdParams,
        querystring: WaitQuery,
        response: { 200: ref(Job) },
      },
    },
    async (request, reply) => {
      const { tenantId, query } = request;
      const id = jobId(request.params.id);
      const job = { tenantId, jobId: id, until: query.until };
      await untilArrived(ports, { job, ms: query.wait_ms, signal: signalOf(reply) });
      return orNotFound(await findAnyJob(ports, job), noJob(id));
    },
  );
}

function cancelJobRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/jobs/:id/cancel',
    {
      config: { access: 'run', tokens: 'job' },
      schema: {
        summary: 'Cancel a job; for a finished job, return its status',
        operationId: 'cancelJob',
        tags,
        params: IdParams,
        headers: WriteHeaders,
        body: ref(CancelJob),
        response: { 200: ref(Receipt) },
      },
    },
    async (request, reply) => {
      const { tenantId, body } = request;
      const id = jobId(request.params.id);
      return writeAround(ports, request, async () => {
        const job = { tenantId, jobId: id, until: 'end' } as const;
        const why = { reason: body.reason ?? null, by: actorOf(request) };
        if (!(await cancelAnyJob(ports, job, why))) return refuse('not_found', noJob(id));
        await untilArrived(ports, { job, ms: body.wait_ms ?? 0, signal: signalOf(reply) });
        return { kind: 'done', value: orNotFound(await findAnyReceipt(ports, job), noJob(id)) };
      });
    },
  );
}

/** Waits at most `ms`, and not after `signal`. */
type Wait = { job: Watched; ms: number; signal: AbortSignal };

/** Resolves once the job has come so far, or after the wait. */
export async function untilArrived(
  { streamHub }: Pick<ApiPorts, 'streamHub'>,
  { job, ms, signal }: Wait,
): Promise<void> {
  if (ms === 0) return;
  const watch = await streamHub.watch(job);
  await watch.arrived(ms, signal).finally(() => watch.stop());
}
