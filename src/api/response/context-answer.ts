/** Responses with a context, and the version of its settings as ETag. */
import type { FastifyReply } from 'fastify';
import type { ContextId, TenantId } from '../../core/ids.ts';
import { idleTimeouts } from '../../core/workers/settings.ts';
import type { Executor } from '../../db/connection/client.ts';
import { findContext, type ContextView } from '../../db/read/contexts/context-views.ts';
import type { AnyCommand } from '../../commands/perform.ts';
import { answeredBy } from '../request/write.ts';
import type { ApiPorts } from '../server/ports.ts';
import { orNotFound } from './problem.ts';
import { noContext } from '../routes/params.ts';
import type { Context } from '../schemas/contexts/context.ts';
import { toEtag } from '../request/version.ts';
import { toContext } from '../wire/context.ts';

/** Also stored under the idempotency key. */
export type ContextAnswer = { context: Context; etag: string };

export async function readAnswer(
  { catalog }: Pick<ApiPorts, 'catalog'>,
  executor: Executor,
  tenantId: TenantId,
  id: ContextId,
): Promise<ContextAnswer> {
  return toAnswer(
    orNotFound(await findContext(executor, tenantId, id, idleTimeouts(catalog.fileRoles)), noContext(id)),
  );
}

/** Answers a command that returns the context. */
export function contextAnswered(command: AnyCommand<ContextView>): AnyCommand<ContextAnswer> {
  return answeredBy(command, async (_, view) => toAnswer(view));
}

function toAnswer(view: ContextView): ContextAnswer {
  return { context: toContext(view), etag: toEtag(view.version) };
}

export function tagged(reply: FastifyReply, { context, etag }: ContextAnswer): Context {
  reply.header('etag', etag);
  return context;
}
