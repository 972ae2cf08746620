/**
 * API keys of a tenant. A response that contains a key is not stored, not even under an `Idempotency-Key`: a repeated
 * request makes another key.
 */
import type { FastifyRequest } from 'fastify';
import { hasKey, makeKey, type CallerCheck } from '../../../commands/keys/make-key.ts';
import { revokeKey } from '../../../commands/keys/revoke-key.ts';
import { perform } from '../../../commands/perform.ts';
import { makeTenant } from '../../../commands/tenants/manage-tenants.ts';
import { rotateKey } from '../../../commands/keys/rotate-key.ts';
import { LONGEST_LIFE_MS, type NewApiKey } from '../../../core/access/api-keys.ts';
import { parseId, type ApiKeyId, type TenantId } from '../../../core/ids.ts';
import { NO_LIMITS } from '../../../core/access/quotas.ts';
import { groupsOfAdmins } from '../../../core/access/oidc.ts';
import type { Scope } from '../../../core/access/scopes.ts';
import { listKeys } from '../../../db/write/api-keys.ts';
import { ensureTenant, tenantOfKey } from '../../../db/write/tenants/tenants.ts';
import { ref } from '../../../schema/build.ts';
import type { AccessControl } from '../../access/access.ts';
import { grantId, keyId } from '../../access/environment-keys.ts';
import { newKey } from '../../access/made-keys.ts';
import { lackedScope } from '../../access/scopes.ts';
import { cursorOf, id } from '../../request/cursor.ts';
import { audited } from '../../request/audited.ts';
import { parseInstant } from '../../request/instant.ts';
import { unstored, write } from '../../request/write.ts';
import { toListing } from '../../response/page.ts';
import { RequestRefused, invalid, orNotFound, refused } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { Empty, PageQuery } from '../../schemas/common.ts';
import {
  ApiKeyList,
  CreateApiKey,
  CreatedApiKey,
  RotateApiKey,
  USUAL_OVERLAP_S,
} from '../../schemas/system/api-key.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { toApiKey } from '../../wire/system/api-key.ts';
import { IdParams } from '../params.ts';

const tags = ['keys'];

const PLACE = cursorOf((value) => id<ApiKeyId>(value));

export function apiKeyRoutes(app: App, ports: ApiPorts, accessControl: AccessControl): void {
  listKeysRoute(app, ports);
  createKeyRoute(app, ports, accessControl);
  revokeKeyRoute(app, ports, accessControl);
  rotateKeyRoute(app, ports, accessControl);
}

function listKeysRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/keys',
    {
      config: { access: 'keys' },
      schema: {
        summary: 'API keys, newest first. Those that were revoked or expired more than 90 days ago are missing',
        operationId: 'listApiKeys',
        tags,
        querystring: PageQuery,
        response: { 200: ref(ApiKeyList) },
      },
    },
    async ({ tenantId, query }, reply) => {
      const [after] = PLACE.read(query.cursor) ?? [null];
      const read = readerOf(ports, reply);
      const items = await read((_, last) => listKeys(last, tenantId, { after, limit: query.limit + 1 }));
      return toListing({ items }, query.limit, toApiKey, (last) => PLACE.write([last.id]));
    },
  );
}

function createKeyRoute(app: App, ports: ApiPorts, accessControl: AccessControl): void {
  app.post(
    '/api/keys',
    {
      config: { access: 'keys_or_operator' },
      schema: {
        summary: 'Create an API key. The response is the only one that shows it; repeating the request creates another',
        operationId: 'createApiKey',
        tags,
        body: ref(CreateApiKey),
        response: { 201: ref(CreatedApiKey) },
      },
    },
    async (request, reply) => {
      const { name, scopes, expires_at, tenant, limits = {} } = request.body;
      const lacked = lackedScope(request, scopes, 'scopes');
      if (lacked !== null) throw new RequestRefused(lacked);
      const isByOperator = request.isOperator;
      if (isByOperator && !scopes.includes('keys'))
        throw invalid('The first key needs the scope keys: without it, no other could be made.', 'scopes');
      const isLimited = Object.keys(limits).length > 0;
      if (isLimited && scopes.includes('keys'))
        throw invalid('A key with the scope keys has no limits: it could make others without them.', 'limits');
      const end = endOf(expires_at);
      const id = ports.ids.next<ApiKeyId>();
      const { key, hash } = newKey(id);
      const tenantId = await tenantOf(ports, request, tenant);
      const command = makeKey(
        { id, tenantId, name, scopes, limits, hash, isByOperator, ...end, replaces: null },
        (tx) => accessControl.isValid(tx, request.credential),
      );
      const detail = { name, scopes, expires_at: expires_at ?? null, ...(isLimited && { limits }) };
      const act = { action: 'key.created', target: id, detail } as const;
      const recorded = audited(ports, { request, tenantId }, command, () => [act]);
      // The operator gives access: the log of the installation has it, too.
      const ofOperator = { ...act, detail: { ...detail, tenant: request.tenantName } };
      const twice = audited(ports, { request, tenantId: null }, recorded, () => (isByOperator ? [ofOperator] : []));
      const made = await write(ports, unstored(request), twice);
      request.madeKey = id;
      accessControl.made();
      reply.code(201);
      return { ...toApiKey(made), key };
    },
  );
}

function revokeKeyRoute(app: App, ports: ApiPorts, accessControl: AccessControl): void {
  app.delete(
    '/api/keys/:id',
    {
      config: { access: 'keys' },
      schema: {
        summary: 'Revoke an API key. Its sessions and event streams end within a second. Safe to repeat',
        operationId: 'revokeApiKey',
        tags,
        params: IdParams,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const id = apiKeyId(request.params.id);
      const { tenantId } = request;
      const command = audited(ports, { request, tenantId }, revokeKey(tenantId, id), ({ revoked }) =>
        revoked ? [{ action: 'key.revoked', target: id, detail: {} }] : [],
      );
      await write(ports, unstored(request), command);
      accessControl.ended(id);
      reply.code(204);
      return null;
    },
  );
}

function rotateKeyRoute(app: App, ports: ApiPorts, accessControl: AccessControl): void {
  app.post(
    '/api/keys/:id/rotate',
    {
      config: { access: 'keys' },
      schema: {
        summary: 'Create an API key that replaces another one, with its name, scopes, limits and lifetime',
        description: 'The caller must have all scopes of the key. The old key stays valid during the overlap.',
        operationId: 'rotateApiKey',
        tags,
        params: IdParams,
        body: ref(RotateApiKey),
        response: { 201: ref(CreatedApiKey) },
      },
    },
    async (request, reply) => {
      const { tenantId, params, body } = request;
      const old = apiKeyId(params.id);
      const overlapS = body.overlap_s ?? USUAL_OVERLAP_S;
      const id = ports.ids.next<ApiKeyId>();
      const { key, hash } = newKey(id);
      const mayGive = (scopes: readonly Scope[]) => lackedScope(request, scopes);
      const isCallerValid: CallerCheck = (tx) => accessControl.isValid(tx, request.credential);
      const command = rotateKey({ tenantId, id: old, overlapS, replacement: { id, hash }, isCallerValid, mayGive });
      const act = { action: 'key.rotated', target: old, detail: { replaced_by: id, overlap_s: overlapS } } as const;
      const made = await write(
        ports,
        unstored(request),
        audited(ports, { request, tenantId }, command, () => [act]),
      );
      request.madeKey = id;
      if (overlapS === 0) accessControl.ended(old);
      reply.code(201);
      return { ...toApiKey(made), key };
    },
  );
}

function endOf(text: string | undefined): Pick<NewApiKey, 'expiresAt' | 'lifetimeMs'> {
  const expiresAt = parseInstant(text, 'expires_at');
  if (expiresAt === null) return { expiresAt, lifetimeMs: null };
  const lifetimeMs = expiresAt - Date.now();
  if (lifetimeMs <= 0) throw invalid('expires_at must be in the future.', 'expires_at');
  if (lifetimeMs > LONGEST_LIFE_MS) throw invalid('expires_at must be within ten years.', 'expires_at');
  return { expiresAt, lifetimeMs };
}

/** The tenant of a new key. Only the admin key names one, of which no key of the environment can make keys. */
async function tenantOf(ports: ApiPorts, request: FastifyRequest, name: string | undefined): Promise<TenantId> {
  const { config, database } = ports;
  const { scopes, tenantId, tenantName } = request;
  if (scopes !== null) {
    if (name === undefined || name === tenantName) return tenantId;
    throw refused('forbidden', 'Only the admin key makes keys of another tenant.', 'tenant');
  }
  if (name === undefined) throw invalid('tenant is missing: the admin key belongs to none.', 'tenant');
  for (const { key, tenant, scopes: ofKey } of config.apiKeys) {
    const canMake = tenant === name && ofKey.has('keys');
    if (canMake && (await tenantOfKey(database.db, name, keyId(key))) !== null) throw new RequestRefused(hasKey());
  }
  // The people of such a group make keys themselves.
  const admins = config.oidc === null ? [] : groupsOfAdmins(config.oidcSettings.grants, name);
  for (const group of admins)
    if ((await tenantOfKey(database.db, name, grantId(group))) !== null) throw new RequestRefused(hasKey());
  request.tenantName = name;
  await addTenant(ports, request, name);
  return ensureTenant(database.db, name);
}

/** With an entry in the audit log; nothing, if there is one with this name. */
async function addTenant(ports: ApiPorts, request: FastifyRequest, name: string): Promise<void> {
  const act = { action: 'tenant.created', target: name, detail: {} } as const;
  const command = makeTenant({ name, weight: 1, limits: NO_LIMITS, allow: {} });
  const outcome = await perform(
    ports,
    audited(ports, { request, tenantId: null }, command, () => [act]),
  );
  if (outcome.kind === 'refused' && outcome.code !== 'tenant_exists') throw new RequestRefused(outcome);
}

function apiKeyId(text: string): ApiKeyId {
  return orNotFound(parseId<ApiKeyId>(text), `No API key has the id ${text}.`);
}
