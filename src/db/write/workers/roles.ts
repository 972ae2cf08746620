/**
 * Roles created through the API. Every change inserts a new version, so that a worker keeps the version it was created
 * from. The last version is current; a last version without a definition marks a deleted role. Rows are deleted with their tenant.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { TenantId } from '../../../core/ids.ts';
import type { Role } from '../../../core/workers/settings.ts';
import type { Millis } from '../../../core/time.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { millis } from '../../connection/instant.ts';
import { toPage, withinBytes, type OfPage, type Page, type PageRequest } from '../../read/page.ts';

export type RoleView = {
  name: string;
  version: number;
  definition: Role;
  /** When its first version was created. */
  createdAt: Millis;
  /** When this version was created. */
  updatedAt: Millis;
};

const rolesWithBirth: SQL = sql`select r.name, r.version, r.definition, ${millis(sql`f.created_at`)} as "createdAt",
  ${millis(sql`r.created_at`)} as "updatedAt"
  from roles r join roles f on f.tenant_id = r.tenant_id and f.name = r.name and f.version = 1`;

const isLast: SQL = sql`not exists (
  select 1 from roles n where n.tenant_id = r.tenant_id and n.name = r.name and n.version > r.version)`;

/** The current version, or the given one. Null: the tenant has no such role, or it was deleted. */
export async function findRole(
  executor: Executor,
  tenantId: TenantId,
  name: string,
  version: number | null = null,
): Promise<RoleView | null> {
  const which = version === null ? isLast : sql`r.version = ${version}`;
  const [row] = await executor.execute<RoleView>(sql`
    ${rolesWithBirth} where r.tenant_id = ${tenantId} and r.name = ${name} and r.definition is not null and ${which}`);
  return row ?? null;
}

/**
 * Current roles by name, without the names in `hidden`, within the page's byte limit. `after`: a name.
 */
export async function listRoles(
  executor: Executor,
  tenantId: TenantId,
  hidden: readonly string[],
  page: PageRequest<string | null>,
): Promise<Page<RoleView>> {
  const rows = sql`select s.*, octet_length(s.definition::text) as bytes from (
    ${rolesWithBirth} ${currentRoles(tenantId, hidden, page)}) s`;
  return toPage(await executor.execute<OfPage & RoleView>(withinBytes(rows, sql`p.name collate "C"`)), (row) => row);
}

/** `definition` null: this version deleted the role. */
export type RoleVersionView = { version: number; definition: Role | null; createdAt: Millis };

/** All versions of a name, newest first, within the byte limit of a page. `after`: a version. */
export async function listVersions(
  executor: Executor,
  tenantId: TenantId,
  name: string,
  { after, limit }: PageRequest<number | null>,
): Promise<Page<RoleVersionView>> {
  const earlier = after === null ? sql`` : sql`and r.version < ${after}`;
  const rows = sql`select r.version, r.definition, ${millis(sql`r.created_at`)} as "createdAt",
    coalesce(octet_length(r.definition::text), 0) as bytes
    from roles r where r.tenant_id = ${tenantId} and r.name = ${name} ${earlier}
    order by r.version desc limit ${limit}`;
  return toPage(
    await executor.execute<OfPage & RoleVersionView>(withinBytes(rows, sql`p.version desc`)),
    ({ version, definition, createdAt }) => ({ version, definition, createdAt }),
  );
}

/** Names of current roles, at most `limit`. */
export async function listRoleNames(
  executor: Executor,
  tenantId: TenantId,
  hidden: readonly string[],
  limit: number,
): Promise<string[]> {
  const rows = await executor.execute<{ name: string }>(
    sql`select r.name from roles r ${currentRoles(tenantId, hidden, { after: null, limit })}`,
  );
  return rows.map(({ name }) => name);
}

function currentRoles(
  tenantId: TenantId,
  hidden: readonly string[],
  { after, limit }: PageRequest<string | null>,
): SQL {
  const later = after === null ? sql`` : sql`and r.name collate "C" > ${after}`;
  return sql`where r.tenant_id = ${tenantId} and r.definition is not null and ${isLast} ${later}
    and r.name not in (select jsonb_array_elements_text(${encodeJson(hidden)}::jsonb))
    order by r.name collate "C" limit ${limit}`;
}

/**
 * The last version of a name. `deleted`: this version deleted the role. `same`: its definition equals the wanted one.
 */
export type LastVersion = { version: number; deleted: boolean; same: boolean };

/** Null: this tenant never used the name. */
export async function lastVersion(
  executor: Executor,
  tenantId: TenantId,
  name: string,
  wanted: Role | null = null,
): Promise<LastVersion | null> {
  const [row] = await executor.execute<LastVersion>(sql`
    select r.version, r.definition is null as deleted,
      coalesce(r.definition::jsonb = ${jsonOf(wanted)}::jsonb, false) as same
    from roles r where r.tenant_id = ${tenantId} and r.name = ${name} order by r.version desc limit 1`);
  return row ?? null;
}

/** `definition` null: this version deletes the role. */
type RoleVersion = Pick<RoleView, 'name' | 'version'> & { definition: Role | null };

/** False: another transaction has already committed this version. */
export async function addVersion(
  tx: Executor,
  tenantId: TenantId,
  { name, version, definition }: RoleVersion,
): Promise<boolean> {
  const rows = await tx.execute(sql`/* roles.add_version */
    insert into roles (tenant_id, name, version, definition)
    values (${tenantId}, ${name}, ${version}, ${jsonOf(definition)}::json)
    on conflict do nothing returning version`);
  return rows.length > 0;
}

function jsonOf(definition: Role | null): string | null {
  return definition === null ? null : encodeJson(definition);
}
