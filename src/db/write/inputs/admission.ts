/** Reads what decides whether a context accepts an input. */
import { sql } from 'drizzle-orm';
import type { ContextId, TenantId } from '../../../core/ids.ts';
import type { Executor } from '../../connection/client.ts';
import { hasQuestion } from '../../calls/replies.ts';

/** `asking`: a question waits for a person's answer. */
export type Admission = { stopped: boolean; queued: number; asking: boolean };

/** Null: the tenant has no such context. */
export async function admission(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
): Promise<Admission | null> {
  const [row] = await executor.execute<Admission>(sql`
    select c.stopped, c.queued + c.steers as queued, ${hasQuestion} as asking
    from contexts c where c.tenant_id = ${tenantId} and c.id = ${contextId}`);
  return row ?? null;
}
