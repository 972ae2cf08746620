/**
 * What a caller sees of its tenant. A worker never changes its user, so what was found within reach stays there until it
 * is deleted.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, JobId, TenantId, WorkerId } from '../../core/ids.ts';
import type { Reach } from '../../core/access/reach.ts';
import type { User } from '../../core/access/user.ts';
import type { Executor } from '../connection/client.ts';
import { isSubmissionWithin } from '../submissions/submitted-jobs.ts';

/** `user`: only what belongs to this end user; null: no filter. */
export type Visible = { reach: Reach; user: User | null };

/** Conditions on a worker `w`. */
export function isVisible({ reach, user }: Visible): SQL[] {
  return [...isWithin(reach), ...(user === null ? [] : [sql`w.user_name = ${user}`])];
}

/** Conditions on a worker `w`. */
export function isWithin(reach: Reach): SQL[] {
  switch (reach.kind) {
    case 'tenant':
      return [];
    case 'user':
      return [sql`w.user_name = ${reach.user}`];
    case 'contexts':
      return [sql`w.context_id in ${[...reach.contextIds]}`];
  }
}

/** What a request names by its id. */
export type Named = { kind: 'context'; id: ContextId } | { kind: 'worker'; id: WorkerId } | { kind: 'job'; id: JobId };

/** Whether the caller sees it. False also if it does not exist. */
export async function isReached(executor: Executor, tenantId: TenantId, reach: Reach, named: Named): Promise<boolean> {
  const conditions = [sql`w.tenant_id = ${tenantId}`, isNamed(tenantId, named), ...isWithin(reach)];
  const submitted =
    named.kind === 'job' ? sql`union all ${isSubmissionWithin(tenantId, named.id, reach)}` : sql.empty();
  const rows = await executor.execute(sql`/* workers.reach */
    select 1 from workers w where ${sql.join(conditions, sql` and `)} ${submitted}`);
  return rows.length > 0;
}

function isNamed(tenantId: TenantId, named: Named): SQL {
  switch (named.kind) {
    case 'context':
      return sql`w.context_id = ${named.id}`;
    case 'worker':
      return sql`w.id = ${named.id}`;
    case 'job':
      return sql`w.context_id = (select j.context_id from jobs j where j.id = ${named.id} and j.tenant_id = ${tenantId})`;
  }
}

/** Those of the ids that name no context of the tenant. */
export async function missingContexts(
  executor: Executor,
  tenantId: TenantId,
  ids: readonly ContextId[],
): Promise<ContextId[]> {
  const rows = await executor.execute<{ id: ContextId }>(sql`
    select c.id from contexts c where c.tenant_id = ${tenantId} and c.id in ${[...ids]}`);
  const found = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !found.has(id));
}
