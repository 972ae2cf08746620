/** Whether row security limits the login of API processes, where the operator gave them one of their own. */
import { sql, type SQL } from 'drizzle-orm';

/** Why it is not limited. `unlisted`: no policy says what it sees, or row security is not enabled. */
export type Unlimited = 'superuser' | 'bypasses' | 'owner' | 'worker' | 'unlisted';

/** Null: it is limited. One value, for the login that asks; read with another one, in the same statement. */
export const WHY_UNLIMITED: SQL = sql`(
  select case when l.rolsuper then 'superuser' when l.rolbypassrls then 'bypasses'
      when pg_has_role(t.relowner, 'usage') then 'owner' when bool_or(p.polname like 'all_of_workers%') then 'worker'
      when not t.relrowsecurity or count(p.oid) = 0 then 'unlisted' end
  from pg_roles l cross join pg_class t left join pg_policy p on p.polrelid = t.oid and exists (
    select 1 from unnest(p.polroles) r(id) where r.id <> 0 and pg_has_role(r.id, 'usage'))
  where l.rolname = current_user and t.oid = 'tenants'::regclass
  group by l.oid, l.rolsuper, l.rolbypassrls, t.relowner, t.relrowsecurity)`;

const REASONS: Readonly<Record<Unlimited, string>> = {
  superuser: 'it is a superuser',
  bypasses: 'it bypasses row security',
  owner: 'it has the rights of the login that owns the tables',
  worker: 'it has the rights of the login of worker processes',
  unlisted: 'the tables have no policy for it',
};

/** For the operator: what is wrong, and what to do. */
export function unlimitedProblem(why: Unlimited): { reason: string; advice: string } {
  const reason = `Row security does not limit the login of NIGHTSHIFT_API_DATABASE_URL: ${REASONS[why]}.`;
  const other = why === 'unlisted' ? '' : 'Use another login. ';
  return { reason, advice: `${other}${MIGRATE_LOGINS}` };
}

/** Gives a login its policies and rights. */
export const MIGRATE_LOGINS =
  'Run `nightshift migrate` with NIGHTSHIFT_API_LOGIN and NIGHTSHIFT_WORKER_LOGIN set to the names of both logins.';
