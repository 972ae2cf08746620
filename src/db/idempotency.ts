/** What was answered under an `Idempotency-Key`. The row is inserted first in its transaction: equal requests queue there. */
import { and, eq, sql } from 'drizzle-orm';
import type { TenantId } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { Executor } from './client.ts';
import { idempotencyKeys } from './schema.ts';

export type KeyState =
  /** Nobody used this key: the caller's request is the first, and must `remember` its answer. */
  { kind: 'first' } | { kind: 'answered'; request: string; response: JsonObject };

/** Waits for an equal key that is under way. Inside the transaction that does the work. */
export async function takeKey(
  tx: Executor,
  tenantId: TenantId,
  key: string,
  request: string,
): Promise<KeyState> {
  const inserted = await tx
    .insert(idempotencyKeys)
    .values({ tenantId, key, request })
    .onConflictDoNothing()
    .returning({ key: idempotencyKeys.key });
  if (inserted.length > 0) return { kind: 'first' };
  const [row] = await tx
    .select({ request: idempotencyKeys.request, response: idempotencyKeys.response })
    .from(idempotencyKeys)
    .where(and(eq(idempotencyKeys.tenantId, tenantId), eq(idempotencyKeys.key, key)));
  if (row === undefined || row.response === null)
    throw new Error('An idempotency key was stored without its answer.');
  return { kind: 'answered', request: row.request, response: row.response };
}

export async function remember(
  tx: Executor,
  tenantId: TenantId,
  key: string,
  response: JsonObject,
): Promise<void> {
  await tx
    .update(idempotencyKeys)
    .set({ response })
    .where(and(eq(idempotencyKeys.tenantId, tenantId), eq(idempotencyKeys.key, key)));
}

/** Keys are good for a day. At most `most` go; passes by what another one forgets. How many went. */
export async function forgetOldKeys(executor: Executor, most: number): Promise<number> {
  const rows = await executor.execute(sql`/* idempotency_keys.delete_old */
    delete from idempotency_keys k using (
      select tenant_id, key from idempotency_keys where created_at < now() - interval '1 day'
      order by created_at limit ${most} for update skip locked) old
    where k.tenant_id = old.tenant_id and k.key = old.key returning 1`);
  return rows.length;
}
