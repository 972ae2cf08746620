/** Contexts and workers as clients read them. */
import { sql } from 'drizzle-orm';
import type { ContextId, TenantId } from '../core/ids.ts';
import type { Executor } from './client.ts';

/** What decides whether a context takes an input; null: this tenant has no such context. */
export async function admission(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
): Promise<{ stopped: boolean; queued: number } | null> {
  const [row] = await executor.execute<{ stopped: boolean; queued: number }>(
    sql`select stopped, queued from contexts where tenant_id = ${tenantId} and id = ${contextId}`,
  );
  return row ?? null;
}
