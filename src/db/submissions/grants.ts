/**
 * Which roles of PostgreSQL may submit jobs, and settle calls of transactional tools, for which tenants. For the owner of
 * the tables, who needs no grant.
 */
import { sql } from 'drizzle-orm';
import type { Executor } from '../connection/client.ts';
import { SETTLE_FUNCTION } from '../tool-transactions/settlements.ts';
import { ensureTenant } from '../write/tenants/tenants.ts';

/** With its types, as `grant` names it. Another version of the function has another name. */
export const SUBMIT_FUNCTION = 'nightshift_submit_v1(text, text, boolean)';

/** What a role with a grant may call. */
export const GRANTED_FUNCTIONS = `${SUBMIT_FUNCTION}, ${SETTLE_FUNCTION}`;

export type SubmissionGrant = { role: string; tenant: string };

/** Whether PostgreSQL has this role. */
async function isRole(executor: Executor, role: string): Promise<boolean> {
  const rows = await executor.execute(sql`select 1 from pg_roles r where r.rolname = ${role}`);
  return rows.length > 0;
}

/** `addsTenant`: the tenant was new. `no_role`: PostgreSQL has no such role. */
export type Granted = { kind: 'granted'; addsTenant: boolean } | { kind: 'no_role' };

/** Adds the tenant if it is new. */
export async function addGrant(tx: Executor, schema: string, { role, tenant }: SubmissionGrant): Promise<Granted> {
  if (!(await isRole(tx, role))) return { kind: 'no_role' };
  await forgetFormerRole(tx, role);
  const addsTenant = !(await isTenant(tx, tenant));
  const tenantId = await ensureTenant(tx, tenant);
  await tx.execute(sql`/* submissions.add_grant */
    insert into submission_grants (role_name, tenant_id) values (${role}, ${tenantId}) on conflict do nothing`);
  const login = sql.identifier(role);
  await tx.execute(sql`/* submissions.allow_schema */ grant usage on schema ${sql.identifier(schema)} to ${login}`);
  await tx.execute(sql`/* submissions.allow */
    grant execute on function ${sql.raw(GRANTED_FUNCTIONS)} to ${login}`);
  return { kind: 'granted', addsTenant };
}

async function isTenant(executor: Executor, name: string): Promise<boolean> {
  const rows = await executor.execute(sql`select 1 from tenants t where t.name = ${name}`);
  return rows.length > 0;
}

/** A role that was never granted the function has no grants: those that its name has are of a role that was dropped. */
async function forgetFormerRole(tx: Executor, role: string): Promise<void> {
  await tx.execute(sql`/* submissions.forget_grants */
    delete from submission_grants g where g.role_name = ${role} and not ${sql.raw(mayItself('g.role_name'))}`);
}

/** SQL: whether the role of this name was granted the function itself. `name`: an expression. */
export function mayItself(name: string): string {
  return `exists (
    select 1 from pg_proc p cross join lateral aclexplode(p.proacl) a join pg_roles r on r.oid = a.grantee
    where p.oid = '${SUBMIT_FUNCTION}'::regprocedure and r.rolname = ${name} and a.privilege_type = 'EXECUTE')`;
}

/**
 * With its last grant a role loses the function. It keeps the usage of the schema, which it may have for another reason,
 * and which gives nothing by itself. False: it had no such grant.
 */
export async function removeGrant(tx: Executor, { role, tenant }: SubmissionGrant): Promise<boolean> {
  const removed = await tx.execute(sql`/* submissions.remove_grant */
    delete from submission_grants g using tenants t
    where t.id = g.tenant_id and t.name = ${tenant} and g.role_name = ${role} returning 1`);
  if (removed.length === 0) return false;
  const left = await tx.execute(sql`select 1 from submission_grants g where g.role_name = ${role} limit 1`);
  if (left.length > 0 || !(await isRole(tx, role))) return true;
  await tx.execute(sql`/* submissions.forbid */
    revoke execute on function ${sql.raw(GRANTED_FUNCTIONS)} from ${sql.identifier(role)}`);
  return true;
}

export async function listGrants(executor: Executor): Promise<SubmissionGrant[]> {
  return executor.execute<SubmissionGrant>(sql`
    select g.role_name as role, t.name as tenant from submission_grants g join tenants t on t.id = g.tenant_id
    order by g.role_name, t.name`);
}
