/** Responses with a context, and the version of its settings as ETag. */
import type { FastifyReply } from 'fastify';
import type { ContextId, TenantId } from '../../core/ids.ts';
import { idleTimeouts } from '../../core/workers/settings.ts';
import type { Executor } from '../../db/connection/client.ts';
import { findContext, type ContextView } from '../../db/read/contexts/context-views.ts';
import { unlessFull, type LimitedTenant } from '../../commands/tenants/within-quota.ts';
import type { AnyCommand } from '../../commands/perform.ts';
import { answeredBy, write, type WriteRequest } from '../request/write.ts';
import type { ApiPorts } from '../server/ports.ts';
import { orNotFound } from './problem.ts';
import { noContext } from '../routes/params.ts';
import type { Context } from '../schemas/contexts/context.ts';
import { tagged, withVersion, type Tagged } from '../request/version.ts';
import { toContext } from '../wire/context.ts';

export async function readAnswer(
  { catalog }: Pick<ApiPorts, 'catalog'>,
  executor: Executor,
  tenantId: TenantId,
  id: ContextId,
): Promise<Tagged<Context>> {
  const view = await findContext(executor, tenantId, id, idleTimeouts(catalog.fileRoles));
  return toAnswer(orNotFound(view, noContext(id)));
}

export function toAnswer(view: ContextView): Tagged<Context> {
  return withVersion(toContext(view), view.version);
}

/** Runs a command that creates a context, and answers 201 with it. */
export async function created(
  ports: ApiPorts,
  request: WriteRequest & LimitedTenant,
  reply: FastifyReply,
  command: AnyCommand<{ contextId: ContextId }>,
): Promise<Context> {
  const answer = await ports.rooms.admit(request, { workers: 1 }, async (full) => {
    const answered = answeredBy(unlessFull(full, command), (tx, made) =>
      readAnswer(ports, tx, request.tenantId, made.contextId),
    );
    return write(ports, request, answered);
  });
  reply.code(201).header('location', `/api/contexts/${answer.body.id}`);
  return tagged(reply, answer);
}
