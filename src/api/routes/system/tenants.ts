/** Tenants, for the operator. */
import { alterTenant, deleteTenant, makeTenant, noTenant } from '../../../commands/tenants/manage-tenants.ts';
import { perform } from '../../../commands/perform.ts';
import { findTenant, listTenants } from '../../../db/write/tenants/manage.ts';
import { DEFAULT_TENANT_NAME } from '../../../core/ids.ts';
import { ref } from '../../../schema/build.ts';
import { actorOf } from '../../access/actor.ts';
import { grantId, keyId } from '../../access/environment-keys.ts';
import { audited } from '../../request/audited.ts';
import { cursorOf, matching } from '../../request/cursor.ts';
import { toListing } from '../../response/page.ts';
import { RequestRefused, invalid, orRefuse } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { PageQuery } from '../../schemas/common.ts';
import { problems } from '../../schemas/problem.ts';
import { CreateTenant, PatchTenant, Tenant, TenantList, TenantParams } from '../../schemas/system/tenant.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { toTenant } from '../../wire/system/tenant.ts';

const tags = ['tenants'];
const config = { access: 'operator' } as const;

const PLACE = cursorOf(matching(/^[A-Za-z0-9_.-]{1,64}$/));

export function tenantRoutes(app: App, ports: ApiPorts): void {
  listTenantsRoute(app, ports);
  createTenantRoute(app, ports);
  getTenantRoute(app, ports);
  patchTenantRoute(app, ports);
  deleteTenantRoute(app, ports);
}

function listTenantsRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/tenants',
    {
      config,
      schema: {
        summary: 'Tenants, sorted by name',
        operationId: 'listTenants',
        tags,
        querystring: PageQuery,
        response: { 200: ref(TenantList) },
      },
    },
    async ({ query }, reply) => {
      const [after] = PLACE.read(query.cursor) ?? [null];
      const read = readerOf(ports, reply);
      const items = await read((_, last) => listTenants(last, { after, limit: query.limit + 1 }));
      return toListing({ items }, query.limit, toTenant, ({ name }) => PLACE.write([name]));
    },
  );
}

function createTenantRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/tenants',
    {
      config,
      schema: {
        summary: 'Create a tenant. A key of a tenant that does not exist creates it, too',
        operationId: 'createTenant',
        tags,
        body: ref(CreateTenant),
        response: { 201: ref(Tenant), ...problems(409) },
      },
    },
    async (request, reply) => {
      const { name, limits = {}, allow = {} } = request.body;
      const { weight, ...own } = limits;
      const tenant = { name, weight: weight ?? 1, limits: withoutNulls(own), allow: withoutNulls(allow) };
      const command = makeTenant(tenant);
      const act = { action: 'tenant.created', target: name, detail: { limits, allow } } as const;
      const { value } = orRefuse(
        await perform(
          ports,
          audited(ports, { request, tenantId: null }, command, () => [act]),
        ),
      );
      reply.code(201);
      return toTenant(value);
    },
  );
}

function getTenantRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/tenants/:name',
    {
      config,
      schema: {
        summary: 'One tenant',
        operationId: 'getTenant',
        tags,
        params: TenantParams,
        response: { 200: ref(Tenant) },
      },
    },
    async ({ params: { name } }) => {
      const found = await findTenant(ports.database.db, name);
      if (found === null) throw new RequestRefused(noTenant(name));
      return toTenant(found);
    },
  );
}

function patchTenantRoute(app: App, ports: ApiPorts): void {
  app.patch(
    '/api/tenants/:name',
    {
      config,
      schema: {
        summary: 'Suspend a tenant or let it go on, change its limits, or what its workers may use',
        operationId: 'patchTenant',
        tags,
        params: TenantParams,
        body: ref(PatchTenant),
        response: { 200: ref(Tenant), ...problems(409) },
      },
    },
    async (request, _reply) => {
      const { params, body } = request;
      const { status = null, limits = {}, allow = null } = body;
      const isOwn = request.credential?.kind === 'keyless' && params.name === DEFAULT_TENANT_NAME;
      if (status === 'suspended' && isOwn)
        throw invalid('An API without keys cannot suspend the tenant that it serves.', 'status');
      const { weight: share, ...own } = limits;
      const weight = share === null ? 1 : (share ?? null);
      const command = alterTenant(params.name, { status, weight, limits: own, allow });
      const acts =
        Object.keys(body).length === 0
          ? []
          : [{ action: 'tenant.changed', target: params.name, detail: body } as const];
      const { value } = orRefuse(
        await perform(
          ports,
          audited(ports, { request, tenantId: null }, command, () => acts),
        ),
      );
      return toTenant(value);
    },
  );
}

function deleteTenantRoute(app: App, ports: ApiPorts): void {
  app.delete(
    '/api/tenants/:name',
    {
      config,
      schema: {
        summary: 'Delete a tenant with all its data. Its keys, sessions and tokens end at once. Safe to repeat',
        description:
          'Worker processes delete the data. Until all is deleted, the tenant has the status deleting; then the audit log of the installation has the entry tenant.deleted.',
        operationId: 'deleteTenant',
        tags,
        params: TenantParams,
        response: { 202: ref(Tenant), ...problems(404) },
      },
    },
    async (request, reply) => {
      const { name } = request.params;
      const by = { actor: actorOf(request), requestId: request.id, keys: keysOf(ports, name) };
      const act = { action: 'tenant.changed', target: name, detail: { status: 'deleting' } } as const;
      const command = audited(ports, { request, tenantId: null }, deleteTenant(name, by), ({ isNew }) =>
        isNew ? [act] : [],
      );
      const { value } = orRefuse(await perform(ports, command));
      reply.code(202);
      return toTenant(value.view);
    },
  );
}

/** Ids of the keys of the environment that name the tenant, and of grants: they do not give access to a later one. */
function keysOf({ config: { apiKeys, oidc, oidcSettings } }: ApiPorts, name: string): string[] {
  const keys = apiKeys.filter(({ tenant }) => tenant === name).map(({ key }) => keyId(key));
  if (oidc === null) return keys;
  const grants = oidcSettings.grants.filter(({ tenant }) => tenant === name);
  return [...keys, ...grants.map(({ group }) => grantId(group))];
}

function withoutNulls<Value>(given: { [Name in string]?: Value | null }): { [Name in string]?: Value } {
  return Object.fromEntries(Object.entries(given).flatMap(([name, value]) => (value == null ? [] : [[name, value]])));
}
