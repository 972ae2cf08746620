/** Approvals in advance of one context: listed, and taken back. `remember` of an approval makes them. */
import { toPublicActor } from '../../../core/access/actor.ts';
import { removeGrant } from '../../../commands/calls/remove-grant.ts';
import { listGrants } from '../../../db/calls/grants.ts';
import { ref } from '../../../schema/build.ts';
import { toIso } from '../../request/instant.ts';
import { orNotFound } from '../../response/problem.ts';
import { audited } from '../../request/audited.ts';
import { write } from '../../request/write.ts';
import { readerOf } from '../../response/reads.ts';
import { Empty, WriteHeaders } from '../../schemas/common.ts';
import { GrantList } from '../../schemas/jobs/approval.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { GrantParams, IdParams, contextId, noContext, toolName } from '../params.ts';

const tags = ['contexts'];

export function grantRoutes(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/grants',
    {
      config: { access: 'read', tokens: 'context' },
      schema: {
        summary: 'Tools whose calls run without approval in this context, because a person approved them in advance',
        operationId: 'listGrants',
        tags,
        params: IdParams,
        response: { 200: ref(GrantList) },
      },
    },
    async ({ tenantId, params }, reply) => {
      const id = contextId(params.id);
      const found = await readerOf(ports, reply)((_, last) => listGrants(last, { tenantId, contextId: id }));
      const data = orNotFound(found, noContext(id)).map(({ tool, actor, createdAt, expiresAt }) => ({
        tool,
        actor: toPublicActor(actor),
        created_at: toIso(createdAt),
        expires_at: toIso(expiresAt),
      }));
      return { data };
    },
  );

  app.delete(
    '/api/contexts/:id/grants/:tool',
    {
      config: { access: 'approve', tokens: 'context' },
      schema: {
        summary: 'Take an approval in advance back: later calls of the tool need approval again',
        operationId: 'removeGrant',
        tags,
        params: GrantParams,
        headers: WriteHeaders,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { tenantId, params } = request;
      const target = { tenantId, contextId: contextId(params.id) };
      const tool = toolName(params.tool);
      const act = { action: 'grant.removed', target: target.contextId, detail: { tool } } as const;
      await write(
        ports,
        request,
        audited(ports, { request, tenantId }, removeGrant(target, tool), () => [act]),
      );
      reply.code(204);
      return null;
    },
  );
}
