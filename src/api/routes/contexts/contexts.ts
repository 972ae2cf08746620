/** Contexts: created, read, changed, deleted; their state and settings. */
import type { Static } from 'typebox';
import { deleteWorker } from '../../../commands/workers/delete-worker.ts';
import { refuse } from '../../../core/errors.ts';
import type { ContextId } from '../../../core/ids.ts';
import { idleTimeouts } from '../../../core/workers/settings.ts';
import { FLEETING, type DurableState, type State } from '../../../core/run/state.ts';
import { listContexts, type ContextOrder } from '../../../db/read/contexts/context-views.ts';
import { findDiagnosis } from '../../../db/read/contexts/diagnoses.ts';
import { workerOf } from '../../../db/read/contexts/worker-views.ts';
import { requireNames } from '../../server/catalog.ts';
import { created, readAnswer } from '../../response/context-answer.ts';
import { splitLists } from '../../request/query.ts';
import { makeWorker, visibleParent } from '../../request/make-worker.ts';
import { cursorOf, id, instant } from '../../request/cursor.ts';
import { toListing } from '../../response/page.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { actingUser, requireNewContexts, visibleTo } from '../../access/reach.ts';
import { requireConfigure } from '../../access/scopes.ts';
import { invalid, orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { Empty, VersionedHeaders, WriteHeaders, versioned } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import {
  Context,
  ContextList,
  ContextQuery,
  ContextState,
  CreateContext,
  PatchContext,
  PutContext,
} from '../../schemas/contexts/context.ts';
import { problems } from '../../schemas/problem.ts';
import { mergeConfig, withoutNulls } from '../../request/settings-change.ts';
import { isMatch, tagged } from '../../request/version.ts';
import { toContextState } from '../../response/status-reason.ts';
import { toContext } from '../../wire/context.ts';
import { audited } from '../../request/audited.ts';
import { writeAround } from '../../request/write.ts';
import { IdParams, contextId, noContext, workerId } from '../params.ts';
import { changeContext } from './change-context.ts';

const tags = ['contexts'];

const PLACE = cursorOf(id<ContextId>);
/** The last activity, and the id. */
const ACTIVITY = cursorOf(instant, id<ContextId>);

export function contextRoutes(app: App, ports: ApiPorts): void {
  createContextRoute(app, ports);
  listContextsRoute(app, ports);
  getContextRoute(app, ports);
  getContextStateRoute(app, ports);
  patchContextRoute(app, ports);
  putContextRoute(app, ports);
  deleteContextRoute(app, ports);
}

function createContextRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts',
    {
      config: { access: 'run', tokens: 'filtered' },
      schema: {
        summary: 'Create a context and the worker that owns it',
        operationId: 'createContext',
        tags,
        headers: WriteHeaders,
        body: ref(CreateContext),
        response: { 201: versioned(Context), ...problems(404) },
      },
    },
    async (request, reply) => {
      const { tenantId, allow, body } = request;
      const { title = null, config = {} } = body;
      requireConfigure(request, config);
      requireNewContexts(request);
      const user = actingUser(request, body.user);
      const { name, role } = identityOf(body);
      const parentWorkerId = await visibleParent(ports, request, body.parent_worker_id);
      const command = await makeWorker(ports, { tenantId, allow, user, name, title, role, config, parentWorkerId });
      return created(ports, request, reply, { command, copies: false });
    },
  );
}

function listContextsRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts',
    {
      config: { access: 'read', tokens: 'filtered' },
      preValidation: splitLists('state'),
      schema: {
        summary: 'Contexts, newest first. Archived contexts only with archived=true',
        operationId: 'listContexts',
        tags,
        querystring: ContextQuery,
        response: { 200: ref(ContextList) },
      },
    },
    async (request, reply) => {
      const { tenantId, query } = request;
      const order = orderOf(query);
      const timeouts = idleTimeouts(ports.catalog.fileRoles);
      const filter = {
        ...visibleTo(request, query.user),
        states: durable(query.state),
        role: query.role ?? null,
        archived: query.archived,
        spawned: query.spawned ?? null,
        parentWorkerId: query.parent_worker_id === undefined ? null : workerId(query.parent_worker_id),
        q: query.q ?? null,
        order,
        limit: query.limit + 1,
      };
      const read = readerOf(ports, reply);
      const { upto, ...page } = await read((tx, last) =>
        // A search by q takes a second statement: one finds the ids, one reads the page.
        listContexts(filter.q === null ? last : tx, tenantId, timeouts, filter),
      );
      const listing = toListing(page, query.limit, toContext, ({ id: last, updatedAt }) =>
        order.sort === 'activity' ? ACTIVITY.write([updatedAt, last]) : PLACE.write([last]),
      );
      const further = upto === null ? null : PLACE.write([upto]);
      return { ...listing, next_cursor: listing.next_cursor ?? further };
    },
  );
}

/** The order of the list, and where its page begins. */
function orderOf({ sort, q, cursor }: Pick<Static<typeof ContextQuery>, 'sort' | 'q' | 'cursor'>): ContextOrder {
  if (sort !== 'activity') {
    const [after] = PLACE.read(cursor) ?? [null];
    return { sort: 'created', after };
  }
  if (q !== undefined) throw invalid('A search by q is sorted by created. Leave sort out.', 'sort');
  return { sort, after: ACTIVITY.read(cursor) };
}

/** Drops transient states: only event streams show them, they are not stored. */
function durable(states: State | State[] | undefined): DurableState[] | null {
  if (states === undefined) return null;
  return [states].flat().filter((state): state is DurableState => !FLEETING.some((one) => one === state));
}

function getContextRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id',
    {
      config: { access: 'read', tokens: 'context' },
      schema: {
        summary: 'One context',
        operationId: 'getContext',
        tags,
        params: IdParams,
        response: { 200: versioned(Context) },
      },
    },
    async ({ tenantId, params }, reply) =>
      tagged(reply, await readAnswer(ports, ports.database.db, tenantId, contextId(params.id))),
  );
}

function getContextStateRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/state',
    {
      config: { access: 'read', tokens: 'context' },
      schema: {
        summary: 'State of a context, and what it waits for',
        operationId: 'getContextState',
        tags,
        params: IdParams,
        response: { 200: ref(ContextState) },
      },
    },
    async ({ tenantId, limits: { slots }, token, params }) => {
      const id = contextId(params.id);
      const [found, names] = await Promise.all([
        findDiagnosis(ports.database.db, tenantId, id, { times: ports.times, areSlotsLimited: slots !== undefined }),
        ports.catalog.beginningNames(),
      ]);
      const diagnosis = orNotFound(found, noContext(id));
      // A token that names contexts may not see those of workers below.
      const isOfUser = token === null || token.contextIds === null;
      return toContextState(isOfUser ? diagnosis : { ...diagnosis, below: [] }, { names, slots });
    },
  );
}

function patchContextRoute(app: App, ports: ApiPorts): void {
  app.patch(
    '/api/contexts/:id',
    {
      config: { access: 'run', tokens: 'context' },
      schema: {
        summary: 'Change title or config; null removes a field of the config',
        operationId: 'patchContext',
        tags,
        params: IdParams,
        headers: VersionedHeaders,
        body: ref(PatchContext),
        response: { 200: versioned(Context) },
      },
    },
    async (request, reply) => {
      const { config: patch } = request.body;
      requireConfigure(request, patch);
      await requireNames(ports, request, withoutNulls(patch ?? {}));
      return changeContext(
        ports,
        request,
        reply,
        patch && { fields: Object.keys(patch), of: (current) => mergeConfig(current, patch) },
      );
    },
  );
}

function putContextRoute(app: App, ports: ApiPorts): void {
  app.put(
    '/api/contexts/:id',
    {
      config: { access: 'configure' },
      schema: {
        summary: 'Replace the whole config',
        operationId: 'putContext',
        tags,
        params: IdParams,
        headers: VersionedHeaders,
        body: ref(PutContext),
        response: { 200: versioned(Context) },
      },
    },
    async (request, reply) => {
      const { config } = request.body;
      await requireNames(ports, request, config ?? {});
      return changeContext(ports, request, reply, config && { fields: null, of: () => config });
    },
  );
}

function deleteContextRoute(app: App, ports: ApiPorts): void {
  app.delete(
    '/api/contexts/:id',
    {
      config: { access: 'run', tokens: 'context' },
      schema: {
        summary: 'Delete a context, its worker and all workers below it, permanently',
        operationId: 'deleteContext',
        tags,
        params: IdParams,
        headers: VersionedHeaders,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { tenantId } = request;
      const id = contextId(request.params.id);
      await writeAround(ports, request, async (performLast) => {
        const worker = await workerOf(ports.database.db, tenantId, id);
        if (worker === null) return refuse('not_found', noContext(id));
        const act = { action: 'context.deleted', target: id, detail: { worker_id: worker } } as const;
        const outcome = await deleteWorker(ports, tenantId, worker, {
          isCurrent: (version) => isMatch(request.headers['if-match'], version),
          performLast: (command) => performLast(audited(ports, { request, tenantId }, command, () => [act])),
        });
        if (outcome.kind === 'done') return { kind: 'done', value: {} };
        return outcome.code === 'not_found' ? refuse('not_found', noContext(id)) : outcome;
      });
      reply.code(204);
      return null;
    },
  );
}

/** Reads name and role of the new worker from `worker`, or from the top level as `POST /api/workers` takes them. */
function identityOf(body: Static<typeof CreateContext>): { name: string; role: string | null } {
  const { worker = {} } = body;
  for (const member of ['name', 'role'] as const) {
    if (body[member] !== undefined && worker[member] !== undefined) {
      const message = `${member} is given twice: as ${member} and as worker.${member}. Give it once.`;
      throw invalid(message, member);
    }
  }
  return { name: body.name ?? worker.name ?? nameAfter(body.title), role: body.role ?? worker.role ?? null };
}

function nameAfter(title: string | null | undefined): string {
  return title === undefined || title === null || title === '' ? 'worker' : title.slice(0, 200);
}
