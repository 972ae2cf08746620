/** Tokens of end users. They are not stored: the response that makes one is the only one that has it. */
import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { parseId, type ContextId } from '../../../core/ids.ts';
import { missingContexts } from '../../../db/read/reach.ts';
import { endSessionsOf } from '../../../db/write/sessions.ts';
import { lockUser, revokeTokens } from '../../../db/write/tokens.ts';
import { ref } from '../../../schema/build.ts';
import type { AccessControl } from '../../access/access.ts';
import { lackedScope } from '../../access/scopes.ts';
import { INVALID_KEY } from '../../../core/access/api-keys.ts';
import { NEEDS_KEY } from '../../access/tokens.ts';
import { toIso } from '../../request/instant.ts';
import { RequestRefused, invalid, orRefuse, refused } from '../../response/problem.ts';
import { audited, record } from '../../request/audited.ts';
import { done, perform } from '../../../commands/perform.ts';
import type { Executor } from '../../../db/connection/client.ts';
import { Empty } from '../../schemas/common.ts';
import { problems } from '../../schemas/problem.ts';
import { CreateToken, CreatedToken, RevokeTokensQuery } from '../../schemas/system/token.ts';
import type { ApiPorts, App } from '../../server/ports.ts';

const tags = ['keys'];

export function tokenRoutes(app: App, ports: ApiPorts, accessControl: AccessControl): void {
  createTokenRoute(app, ports, accessControl);
  revokeTokensRoute(app, ports);
}

function createTokenRoute(app: App, ports: ApiPorts, accessControl: AccessControl): void {
  app.post(
    '/api/tokens',
    {
      config: { access: 'keys' },
      schema: {
        summary: 'Create a token of an end user, for a browser. It ends with the key that makes it',
        operationId: 'createToken',
        tags,
        body: ref(CreateToken),
        response: { 201: ref(CreatedToken), ...problems(404) },
      },
    },
    async (request, reply) => {
      const { tenantId, key, body } = request;
      const lacked = lackedScope(request, body.scopes, 'scopes');
      if (lacked !== null) throw new RequestRefused(lacked);
      if (key === null) throw new RequestRefused(NEEDS_KEY);
      const { user, scopes, metadata = {}, expires_in_s: lifetimeS } = body;
      const contextIds = await contextsOf(ports, request, body);
      const issued = await accessControl.issue({ tenantId, key, user, scopes, contextIds, metadata, lifetimeS });
      if (issued.kind === 'refused') throw new RequestRefused(issued);
      // A token whose entry cannot be written is not given out.
      const detail = { user, scopes, context_ids: contextIds, expires_at: toIso(issued.expiresAt) };
      const act = { action: 'token.created', target: issued.id, detail } as const;
      const isRecorded = await record(ports, ports.database.db, { request, tenantId }, [act]);
      if (!isRecorded) throw new RequestRefused(INVALID_KEY);
      request.madeToken = issued.id;
      reply.code(201);
      return { token: issued.text, expires_at: toIso(issued.expiresAt) };
    },
  );
}

async function contextsOf(
  { database }: ApiPorts,
  { tenantId }: FastifyRequest,
  { context_ids }: Static<typeof CreateToken>,
): Promise<ContextId[] | null> {
  if (context_ids === undefined) return null;
  const ids = context_ids.map((text) => parseId<ContextId>(text)).filter((id) => id !== null);
  const [missing] = await missingContexts(database.db, tenantId, ids);
  if (missing !== undefined) throw refused('not_found', `No context has the id ${missing}.`, 'context_ids');
  return ids;
}

function revokeTokensRoute(app: App, ports: ApiPorts): void {
  app.delete(
    '/api/tokens',
    {
      config: { access: 'keys' },
      schema: {
        summary:
          'End all tokens of a user, and its sessions of OpenID Connect, with their event streams, within a second. Safe to repeat',
        operationId: 'revokeTokens',
        tags,
        querystring: RevokeTokensQuery,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { tenantId, query } = request;
      const { user } = query;
      if (isIssuerAlone(user, ports.config.oidc?.issuer))
        throw invalid('user is the issuer without # and the subject of a person. Write # as %23 in the query.', 'user');
      const command = async (tx: Executor) => {
        await lockUser(tx, tenantId, user);
        await endSessionsOf(tx, tenantId, user);
        return (await revokeTokens(tx, tenantId, user)) ? done(null) : INVALID_KEY;
      };
      const act = { action: 'tokens.revoked', target: user, detail: {} } as const;
      orRefuse(
        await perform(
          ports,
          audited(ports, { request, tenantId }, command, () => [act]),
        ),
      );
      reply.code(204);
      return null;
    },
  );
}

/** In an address, an unescaped `#` and what follows it do not reach the API. */
function isIssuerAlone(user: string, issuer: string | undefined): boolean {
  return issuer !== undefined && (user === issuer || user === `${issuer}#`);
}
