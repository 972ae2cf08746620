/** Roles: versioned roles written by the API, and read-only roles of the config file. */
import { deleteRole, putRole } from '../../../commands/workers/change-role.ts';
import type { Role as Definition } from '../../../core/workers/settings.ts';
import { isAllowed, notAllowed } from '../../../core/workers/allowed-names.ts';
import { findRole, listRoles, listVersions, type RoleView } from '../../../db/write/workers/roles.ts';
import { requireNames } from '../../server/catalog.ts';
import { cursorOf, matching, ordinal } from '../../request/cursor.ts';
import { toListing } from '../../response/page.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { invalid, orNotFound, refused } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { effectiveOfRole } from './effective.ts';
import { fileRoleNames } from '../../response/roles.ts';
import { Empty, PageQuery, VersionedHeaders, versioned } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { ReadRole, Role, RoleList, RoleParams, RoleQuery, RoleVersionList } from '../../schemas/workers/role.ts';
import { RoleDefinition } from '../../../schema/config.ts';
import { isMatch, tagged, withVersion, type Tagged } from '../../request/version.ts';
import { toFileRole, toRole, toRoleVersion } from '../../wire/role.ts';
import { audited } from '../../request/audited.ts';
import { answeredBy, write } from '../../request/write.ts';

const tags = ['roles'];

/** The config file has the same rule for names. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

const PLACE = cursorOf(matching(NAME));

const VERSION_PLACE = cursorOf(ordinal);

export function roleRoutes(app: App, ports: ApiPorts): void {
  listRolesRoute(app, ports);
  getRoleRoute(app, ports);
  listVersionsRoute(app, ports);
  putRoleRoute(app, ports);
  deleteRoleRoute(app, ports);
}

function listRolesRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/roles',
    {
      config: { access: 'read', tokens: 'none' },
      schema: {
        summary: 'Roles, sorted by name',
        operationId: 'listRoles',
        tags,
        querystring: PageQuery,
        response: { 200: ref(RoleList) },
      },
    },
    async ({ tenantId, query }, reply) => {
      const { limit } = query;
      const [after] = PLACE.read(query.cursor) ?? [null];
      const ofFile = await fileRoleNames(ports.catalog);
      const read = readerOf(ports, reply);
      const stored = await read((_, last) => listRoles(last, tenantId, ofFile, { after, limit: limit + 1 }));
      // If stored roles remain for the next page, so do the roles of the file that sort after them.
      const upto = stored.more ? stored.items.at(-1)?.name : undefined;
      const roles = [
        ...ofFile
          .filter((name) => (after === null || name > after) && (upto === undefined || name < upto))
          .map((name) => toFileRole(name, ports.catalog.fileRoles.get(name))),
        ...stored.items.map(toRole),
      ].sort((a, b) => (a.name < b.name ? -1 : 1));
      return toListing(
        { items: roles, more: stored.more },
        limit,
        (role) => role,
        ({ name }) => PLACE.write([name]),
      );
    },
  );
}

function getRoleRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/roles/:name',
    {
      config: { access: 'read', tokens: 'none' },
      schema: {
        summary: 'One role, in its current or an older version',
        operationId: 'getRole',
        tags,
        params: RoleParams,
        querystring: RoleQuery,
        response: { 200: versioned(ReadRole) },
      },
    },
    async ({ tenantId, allow, params, query }, reply) => {
      const { name } = params;
      const version = query.version ?? null;
      const included = (from: string | Definition) =>
        query.include === undefined ? {} : { effective: effectiveOfRole(ports, { name, from, allow }) };
      if (!NAME.test(name)) throw refused('not_found', noRole(name, version));
      if ((await fileRoleNames(ports.catalog)).includes(name)) {
        if (version !== null) throw refused('not_found', noRole(name, version));
        return { ...toFileRole(name, ports.catalog.fileRoles.get(name)), ...included(name) };
      }
      const view = orNotFound(await findRole(ports.database.db, tenantId, name, version), noRole(name, version));
      return tagged(reply, withVersion({ ...toRole(view), ...included(view.definition) }, view.version));
    },
  );
}

function listVersionsRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/roles/:name/versions',
    {
      config: { access: 'read', tokens: 'none' },
      schema: {
        summary: 'All versions of a role, newest first, also of a deleted one. Roles of the config file have none',
        operationId: 'listRoleVersions',
        tags,
        params: RoleParams,
        querystring: PageQuery,
        response: { 200: ref(RoleVersionList) },
      },
    },
    async ({ tenantId, params: { name }, query }, reply) => {
      const { limit } = query;
      const [after] = VERSION_PLACE.read(query.cursor) ?? [null];
      if (!NAME.test(name)) throw refused('not_found', noRole(name, null));
      // Such a role hides one of the API, with its versions.
      if ((await fileRoleNames(ports.catalog)).includes(name)) return { data: [], next_cursor: null };
      const page = await readerOf(
        ports,
        reply,
      )((_, last) => listVersions(last, tenantId, name, { after, limit: limit + 1 }));
      if (page.items.length === 0 && after === null) throw refused('not_found', noRole(name, null));
      return toListing(page, limit, toRoleVersion, ({ version }) => VERSION_PLACE.write([version]));
    },
  );
}

function putRoleRoute(app: App, ports: ApiPorts): void {
  app.put(
    '/api/roles/:name',
    {
      config: { access: 'configure' },
      schema: {
        summary: 'Create or update a role. A changed definition gets a new version',
        operationId: 'putRole',
        tags,
        params: RoleParams,
        headers: VersionedHeaders,
        body: ref(RoleDefinition),
        response: { 200: versioned(Role) },
      },
    },
    async (request, reply) => {
      const { tenantId, allow, body, headers } = request;
      const name = await nameToWrite(ports, request.params.name);
      if (!isAllowed(allow, 'roles', name)) throw refused('forbidden', notAllowed(allow, 'roles', [name]), 'name');
      await requireNames(ports, request, body, []);
      const command = putRole({ tenantId, name, isCurrent: isCurrent(headers['if-match']) }, body);
      const recorded = audited(ports, { request, tenantId }, command, ({ version }) => [
        { action: 'role.saved', target: name, detail: { version } },
      ]);
      const answered = answeredBy(recorded, async (_, view) => toAnswer(view));
      return tagged(reply, await write(ports, request, answered));
    },
  );
}

function deleteRoleRoute(app: App, ports: ApiPorts): void {
  app.delete(
    '/api/roles/:name',
    {
      config: { access: 'configure' },
      schema: {
        summary: 'Delete a role. Workers made from it keep their version',
        operationId: 'deleteRole',
        tags,
        params: RoleParams,
        headers: VersionedHeaders,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { tenantId, headers } = request;
      const name = await nameToWrite(ports, request.params.name);
      const command = deleteRole({ tenantId, name, isCurrent: isCurrent(headers['if-match']) });
      const act = { action: 'role.deleted', target: name, detail: {} } as const;
      await write(
        ports,
        request,
        audited(ports, { request, tenantId }, command, () => [act]),
      );
      reply.code(204);
      return null;
    },
  );
}

/** Returns the name if the API may write this role; else refuses the request. */
async function nameToWrite({ catalog }: Pick<ApiPorts, 'catalog'>, name: string): Promise<string> {
  if (!NAME.test(name)) {
    const message = 'The name in the path is not a valid role name. Use 1 to 64 letters, digits, "_" or "-".';
    throw invalid(message, 'name');
  }
  if ((await fileRoleNames(catalog)).includes(name)) {
    throw refused(
      'forbidden',
      `The role ${name} is defined in the config file. Change it there, or use another name.`,
      'name',
    );
  }
  return name;
}

function isCurrent(ifMatch: string | undefined): (version: number | null) => boolean {
  return (version) => (version === null ? ifMatch === undefined : isMatch(ifMatch, version));
}

function noRole(name: string, version: number | null): string {
  if (!NAME.test(name)) return 'No role has this name. Names are 1 to 64 letters, digits, "_" or "-".';
  return version === null ? `No role has the name ${name}.` : `The role ${name} has no version ${version}.`;
}

function toAnswer(view: RoleView): Tagged<Role> {
  return withVersion(toRole(view), view.version);
}
