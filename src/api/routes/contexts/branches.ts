/** The branches of a context. Branches share the messages before the point where they forked. */
import { createBranch, deleteBranch, switchBranch, type Target } from '../../../commands/contexts/change-branches.ts';
import { noBranch } from '../../../commands/inputs/refusals.ts';
import { parseId, type MessageId } from '../../../core/ids.ts';
import { findBranchView, listBranches, type BranchPlace } from '../../../db/read/contexts/branch-views.ts';
import type { Executor } from '../../../db/connection/client.ts';
import { branchName, cursorOf, instant } from '../../request/cursor.ts';
import { toListing } from '../../response/page.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { RequestRefused, orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { Branch, BranchList, BranchParams, CreateBranch } from '../../schemas/contexts/branch.ts';
import { Empty, PageQuery, WriteHeaders } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { toBranch } from '../../wire/branch.ts';
import { answeredBy, write } from '../../request/write.ts';
import { IdParams, contextId, noContext } from '../params.ts';

const tags = ['contexts'];

const PLACE = cursorOf(instant, branchName);

export function branchRoutes(app: App, ports: ApiPorts): void {
  listBranchesRoute(app, ports);
  createBranchRoute(app, ports);
  switchBranchRoute(app, ports);
  deleteBranchRoute(app, ports);
}

function listBranchesRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/branches',
    {
      config: { access: 'read', tokens: 'context' },
      schema: {
        summary: 'Branches of a context, oldest first',
        operationId: 'listBranches',
        tags,
        params: IdParams,
        querystring: PageQuery,
        response: { 200: ref(BranchList) },
      },
    },
    async ({ tenantId, params, query }, reply) => {
      const context = contextId(params.id);
      const range = { after: readPlace(query.cursor), limit: query.limit + 1 };
      const found = await readerOf(ports, reply)((_, last) => listBranches(last, tenantId, context, range));
      const branches = orNotFound(found, noContext(context));
      return toListing({ items: branches }, query.limit, toBranch, ({ createdAt, name }) =>
        PLACE.write([createdAt, name]),
      );
    },
  );
}

function createBranchRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts/:id/branches',
    {
      config: { access: 'run', tokens: 'context' },
      schema: {
        summary: 'Create a branch. It shares the earlier messages; its cost does not depend on their number',
        operationId: 'createBranch',
        tags,
        params: IdParams,
        headers: WriteHeaders,
        body: ref(CreateBranch),
        response: { 201: ref(Branch) },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const target = targetOf(request);
      const command = createBranch({
        ...target,
        name: body.name,
        fromBranch: body.from_branch ?? null,
        fromMessageId: body.from_message_id === undefined ? null : parseId<MessageId>(body.from_message_id),
        activate: body.activate ?? false,
      });
      const branch = await write(ports, request, answeredBy(command, readBranch(target)));
      reply.code(201).header('location', `/api/contexts/${target.contextId}/branches/${branch.name}`);
      return branch;
    },
  );
}

function switchBranchRoute(app: App, ports: ApiPorts): void {
  app.put(
    '/api/contexts/:id/branches/:name',
    {
      config: { access: 'run', tokens: 'context' },
      schema: {
        summary: 'Make a branch the active one: it takes inputs that name no branch',
        operationId: 'switchBranch',
        tags,
        params: BranchParams,
        headers: WriteHeaders,
        response: { 200: ref(Branch) },
      },
    },
    async (request, _reply) => {
      const target = targetOf(request);
      return write(ports, request, answeredBy(switchBranch(target, request.params.name), readBranch(target)));
    },
  );
}

function deleteBranchRoute(app: App, ports: ApiPorts): void {
  app.delete(
    '/api/contexts/:id/branches/:name',
    {
      config: { access: 'run', tokens: 'context' },
      schema: {
        summary: 'Delete a branch that is not active. Branches that share its messages keep them',
        operationId: 'deleteBranch',
        tags,
        params: BranchParams,
        headers: WriteHeaders,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      await write(ports, request, deleteBranch(targetOf(request), request.params.name));
      reply.code(204);
      return null;
    },
  );
}

function targetOf({ tenantId, params }: { tenantId: Target['tenantId']; params: { id: string } }): Target {
  return { tenantId, contextId: contextId(params.id) };
}

function readBranch({ tenantId, contextId: context }: Target) {
  return async (executor: Executor, { name }: { name: string }): Promise<Branch> => {
    const branch = await findBranchView(executor, tenantId, context, name);
    if (branch === null) throw new RequestRefused(noBranch(name, null));
    return toBranch(branch);
  };
}

function readPlace(cursor: string | undefined): BranchPlace | null {
  const key = PLACE.read(cursor);
  return key === null ? null : { createdAt: key[0], name: key[1] };
}
