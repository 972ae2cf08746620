/** The spans of a branch in SQL: messages with `after < seq <= upto`. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, TenantId } from '../../core/ids.ts';

/** The spans that a branch reads, in order: rows of `branch, after, upto`. */
export function spansOf(contextId: SQL, tenantId: SQL, branch: SQL): SQL {
  return sql`
    select s.branch, s.after, coalesce(s.upto, 9223372036854775807) as upto
    from (
      select spanned.name, spanned.spans from branches spanned
      where spanned.context_id = ${contextId} and spanned.tenant_id = ${tenantId} and spanned.name = ${branch} limit 1
    ) spanned cross join lateral ${stretches(sql`spanned`)}
    -- Always true. It makes the planner expect few spans and not compile the statement with JIT.
    where s.after + 0 = s.after`;
}

/** The spans of a row of `branches`, as the table `s`; `upto` is null for an open span. */
export function stretches(branch: SQL): SQL {
  return sql`jsonb_to_recordset(
    coalesce(${branch}.spans, jsonb_build_array(jsonb_build_object('branch', ${branch}.name, 'after', 0)))
  ) as s(branch text, after bigint, upto bigint)`;
}

/**
 * The requested branch of a context (null: the active one), as a row of `id, tenant_id, asked, found`; `found` is null
 * if no branch has that name. No row: the tenant has no such context.
 */
export function askedFor(tenantId: TenantId, contextId: ContextId, branch: string | null): SQL {
  return sql`
    select c.id, c.tenant_id, coalesce(${branch}::text, c.active_branch) as asked, b.name as found
    from contexts c left join branches b
      on b.context_id = c.id and b.name = coalesce(${branch}::text, c.active_branch)
    where c.tenant_id = ${tenantId} and c.id = ${contextId}`;
}
