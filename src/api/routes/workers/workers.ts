/** Workers: created, read, changed, stopped, started, deleted. */
import { unlessFull } from '../../../commands/tenants/within-quota.ts';
import type { Actor } from '../../../core/access/actor.ts';
import { actorOf } from '../../access/actor.ts';
import { startBelow, stopBelow } from '../../../commands/jobs/cascade.ts';
import { deleteWorker } from '../../../commands/workers/delete-worker.ts';
import { performWithin, type Command } from '../../../commands/perform.ts';
import type { Created } from '../../../commands/workers/create-worker.ts';
import { startWorker, stopWorker } from '../../../commands/workers/stop-worker.ts';
import { refuse } from '../../../core/errors.ts';
import { parseId, type ContextId, type TenantId, type WorkerId } from '../../../core/ids.ts';
import type { Executor } from '../../../db/connection/client.ts';
import { findWorker, listWorkers, type WorkerView } from '../../../db/read/contexts/worker-views.ts';
import { contextOf } from '../../../db/write/workers/workers.ts';
import { requireNames } from '../../server/catalog.ts';
import { CONTENT_BYTES } from '../../request/body.ts';
import { makeWorker, visibleParent } from '../../request/make-worker.ts';
import { cursorOf, id } from '../../request/cursor.ts';
import { toListing } from '../../response/page.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { actingUser, requireNewContexts, visibleTo } from '../../access/reach.ts';
import { requireConfigure, requireScope } from '../../access/scopes.ts';
import { RequestRefused, orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { roleToMakeFrom } from '../../response/roles.ts';
import { Empty, VersionedHeaders, WriteHeaders, versioned } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { problems } from '../../schemas/problem.ts';
import {
  CreateWorker,
  CreatedWorker,
  PatchWorker,
  Worker,
  WorkerList,
  WorkerQuery,
} from '../../schemas/workers/worker.ts';
import { changeSettings, mergeConfig, withoutNulls } from '../../request/settings-change.ts';
import { delayOf, notifying, toAccepted, toFirstInput } from '../../request/submit.ts';
import { isMatch, tagged, withVersion, type Tagged } from '../../request/version.ts';
import { toWorker } from '../../wire/worker.ts';
import { audited } from '../../request/audited.ts';
import { answeredBy, write, writeAround } from '../../request/write.ts';
import { writeWithin } from '../../request/write-within.ts';
import { IdParams, noWorker, workerId } from '../params.ts';
import { getWorkerRoute } from './read-worker.ts';

const tags = ['workers'];

/**
 * Extra time in milliseconds: one transaction for each worker below. After it the API answers 503; the client retries.
 */
const TIMEOUT_MS = 60_000;

const PLACE = cursorOf(id<WorkerId>);

export function workerRoutes(app: App, ports: ApiPorts): void {
  createWorkerRoute(app, ports);
  listWorkersRoute(app, ports);
  getWorkerRoute(app, ports);
  patchWorkerRoute(app, ports);
  deleteWorkerRoute(app, ports);
  stopOrStartRoute(app, ports, 'stop', {
    summary: 'Stop a worker and all workers below it: cancel jobs and refuse inputs until start. Safe to repeat',
    command: (target, by) => stopWorker(ports, target, { by }),
    below: (tenantId, id, by) => stopBelow(ports, tenantId, id, by),
  });
  stopOrStartRoute(app, ports, 'start', {
    summary: 'Start a stopped worker and all workers below it: accept inputs and run queued jobs. Safe to repeat',
    command: (target) => startWorker(ports, target),
    below: (tenantId, id) => startBelow(ports, tenantId, id),
  });
}

function createWorkerRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/workers',
    {
      config: { access: 'run', tokens: 'filtered' },
      bodyLimit: CONTENT_BYTES,
      schema: {
        summary: 'Create a worker and its context, and queue its first input if there is one',
        operationId: 'createWorker',
        tags,
        headers: WriteHeaders,
        body: ref(CreateWorker),
        response: { 201: versioned(CreatedWorker), ...problems(404) },
      },
    },
    async (request, reply) => {
      const { tenantId, allow, body } = request;
      const { name, config = {}, input } = body;
      requireConfigure(request, config);
      requireNewContexts(request);
      const user = actingUser(request, body.user);
      const parentWorkerId = await visibleParent(ports, request, body.parent_worker_id);
      const wanted = { tenantId, allow, user, name, title: null, role: body.role, config, parentWorkerId };
      const first = input === undefined ? null : toFirstInput(request, input);
      const delay = input === undefined ? null : delayOf(input, 'input.');
      const make = await makeWorker(ports, wanted, first, delay);
      const adds = { workers: 1, ...(first !== null && { queuedJobs: 1, content: first.content }) };
      const answer = await writeWithin(ports, request, adds, (full) => {
        const making = notifying(unlessFull(full, make), request, input?.webhook, ({ accepted }) => accepted);
        return answeredBy(making, async (_, made) => toCreated(made));
      });
      request.madeJob = answer.body.job_id ?? null;
      reply.code(201).header('location', `/api/workers/${answer.body.id}`);
      return tagged(reply, answer);
    },
  );
}

function listWorkersRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/workers',
    {
      config: { access: 'read', tokens: 'filtered' },
      schema: {
        summary: 'Workers, newest first',
        operationId: 'listWorkers',
        tags,
        querystring: WorkerQuery,
        response: { 200: ref(WorkerList) },
      },
    },
    async (request, reply) => {
      const { tenantId, query } = request;
      const filter = {
        ...visibleTo(request, query.user),
        parentWorkerId: parseId<WorkerId>(query.parent_worker_id ?? ''),
        role: query.role ?? null,
        state: query.state ?? null,
        archived: query.archived,
      };
      const [after] = PLACE.read(query.cursor) ?? [null];
      const read = readerOf(ports, reply);
      const page = await read((_, last) => listWorkers(last, tenantId, filter, { after, limit: query.limit + 1 }));
      return toListing(page, query.limit, toWorker, ({ id: last }) => PLACE.write([last]));
    },
  );
}

function patchWorkerRoute(app: App, ports: ApiPorts): void {
  app.patch(
    '/api/workers/:id',
    {
      config: { access: 'run', tokens: 'worker' },
      schema: {
        summary: 'Change a worker; null removes a field of the config',
        operationId: 'patchWorker',
        tags,
        params: IdParams,
        headers: VersionedHeaders,
        body: ref(PatchWorker),
        response: { 200: versioned(Worker) },
      },
    },
    async (request, reply) => {
      const { tenantId, body, headers } = request;
      requireConfigure(request, body.config);
      // Approval rules of a role end with it.
      if (body.role !== undefined) requireScope(request, 'configure', 'Another role');
      const id = workerId(request.params.id);
      await requireNames(ports, request, withoutNulls(body.config ?? {}));
      const role = await roleToMakeFrom(ports, request, body.role);
      if (role !== null && 'code' in role) throw new RequestRefused(role);
      const command = changeSettings({
        tenantId,
        find: (executor) => findWorker(executor, tenantId, id),
        what: noWorker(id),
        ifMatch: headers['if-match'],
        change: ({ config }) => ({
          ...(body.name !== undefined && { name: body.name }),
          ...(body.role !== undefined && { role }),
          ...(body.config !== undefined && { config: mergeConfig(config, body.config) }),
        }),
      });
      const detail = { fields: Object.keys(body.config ?? {}), ...(body.role !== undefined && { role: body.role }) };
      const isConfigured = body.config !== undefined || body.role !== undefined;
      const recorded = audited(ports, { request, tenantId }, command, () =>
        isConfigured ? [{ action: 'config.changed', target: id, detail }] : [],
      );
      const answered = answeredBy(recorded, async (_, view) => toAnswer(view));
      return tagged(reply, await write(ports, request, answered));
    },
  );
}

function deleteWorkerRoute(app: App, ports: ApiPorts): void {
  app.delete(
    '/api/workers/:id',
    {
      config: { access: 'run', tokens: 'worker' },
      schema: {
        summary: 'Delete a worker and all workers below it, permanently',
        operationId: 'deleteWorker',
        tags,
        params: IdParams,
        headers: VersionedHeaders,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { tenantId } = request;
      const id = workerId(request.params.id);
      const act = { action: 'worker.deleted', target: id, detail: {} } as const;
      await writeAround(ports, request, async (performLast) => {
        const outcome = await deleteWorker(ports, tenantId, id, {
          isCurrent: (version) => isMatch(request.headers['if-match'], version),
          performLast: (command) => performLast(audited(ports, { request, tenantId }, command, () => [act])),
        });
        return outcome.kind === 'refused' ? outcome : { kind: 'done', value: {} };
      });
      reply.code(204);
      return null;
    },
  );
}

type StopOrStart = {
  summary: string;
  command: (target: { tenantId: TenantId; contextId: ContextId }, by: Actor) => Command<unknown>;
  below: (tenantId: TenantId, id: WorkerId, by: Actor) => Promise<void>;
};

function stopOrStartRoute(app: App, ports: ApiPorts, verb: 'stop' | 'start', way: StopOrStart): void {
  app.post(
    `/api/workers/:id/${verb}`,
    {
      config: { access: 'run', tokens: 'worker', timeoutMs: TIMEOUT_MS },
      schema: {
        summary: way.summary,
        operationId: `${verb}Worker`,
        tags,
        params: IdParams,
        headers: WriteHeaders,
        response: { 200: versioned(Worker) },
      },
    },
    async (request, reply) => {
      const { tenantId } = request;
      const id = workerId(request.params.id);
      const by = actorOf(request);
      const command = ofContext(tenantId, id, (contextId) => way.command({ tenantId, contextId }, by));
      const answer = await write(ports, request, command);
      // After a stop, a sweep stops workers that this request missed, except those below a worker that never had a job:
      // the client repeats the request for them.
      await way.below(tenantId, id, by);
      return tagged(reply, answer);
    },
  );
}

/** Runs a command on the worker's context and answers with the worker. */
function ofContext(
  tenantId: TenantId,
  id: WorkerId,
  command: (contextId: ContextId) => Command<unknown>,
): Command<Tagged<Worker>> {
  return async (tx) => {
    const contextId = await contextOf(tx, tenantId, id);
    if (contextId === null) return refuse('not_found', noWorker(id));
    const answered = answeredBy(command(contextId), () => readAnswer(tx, tenantId, id));
    return performWithin(tx, answered);
  };
}

async function readAnswer(executor: Executor, tenantId: TenantId, id: WorkerId): Promise<Tagged<Worker>> {
  return toAnswer(orNotFound(await findWorker(executor, tenantId, id), noWorker(id)));
}

function toCreated({ view, accepted }: Created): Tagged<CreatedWorker> {
  const worker = toWorker(view);
  if (accepted === null) return withVersion(worker, view.version);
  const { job_id, stream_url } = toAccepted(accepted);
  return withVersion({ ...worker, job_id, message_id: accepted.messageId, stream_url }, view.version);
}

function toAnswer(view: WorkerView): Tagged<Worker> {
  return withVersion(toWorker(view), view.version);
}
