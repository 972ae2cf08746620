/** Responses with a context, and the version of its settings as ETag. */
import type { FastifyReply } from 'fastify';
import type { ContextId, TenantId } from '../../core/ids.ts';
import { idleTimeouts } from '../../core/workers/settings.ts';
import type { Executor } from '../../db/connection/client.ts';
import { readBytesOf } from '../../db/read/installation/usage.ts';
import { findContext, type ContextView } from '../../db/read/contexts/context-views.ts';
import { unlessFull, type Adds, type LimitedTenant, type Reserve } from '../../commands/tenants/within-quota.ts';
import { mapOutcome, type AnyCommand } from '../../commands/perform.ts';
import { answeredBy, type WriteRequest } from '../request/write.ts';
import { writeWithin } from '../request/write-within.ts';
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

/** A command that creates a context. `copies`: with messages. */
type Creation = { command: AnyCommand<{ contextId: ContextId }>; copies: boolean };

/** Refused, and undone, if the tenant has no room for what it copied. */
function sized(tenantId: TenantId, { command }: Creation, reserve: Reserve): Creation['command'] {
  return mapOutcome(command, async (outcome, tx) => {
    if (outcome.kind === 'refused') return outcome;
    return reserve(await readBytesOf(tx, tenantId, outcome.value.contextId)) ?? outcome;
  });
}

/** Runs it, and answers 201 with the context. */
export async function created(
  ports: ApiPorts,
  request: WriteRequest & LimitedTenant,
  reply: FastifyReply,
  { command, copies }: Creation,
): Promise<Context> {
  const adds: Adds = { workers: 1, ...(copies && { content: 'unknown' }) };
  const { tenantId, limits } = request;
  const answer = await writeWithin(ports, request, adds, (full, reserve) => {
    const within = copies && limits.stored_mb !== undefined ? sized(tenantId, { command, copies }, reserve) : command;
    return answeredBy(unlessFull(full, within), (tx, made) => readAnswer(ports, tx, tenantId, made.contextId));
  });
  reply.code(201).header('location', `/api/contexts/${answer.body.id}`);
  return tagged(reply, answer);
}
