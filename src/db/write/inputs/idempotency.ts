/**
 * Responses stored under an `Idempotency-Key`. A transaction inserts the row first, so that requests with the same key
 * wait.
 */
import { and, eq, sql } from 'drizzle-orm';
import type { TenantId } from '../../../core/ids.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { Executor } from '../../connection/client.ts';
import { idempotencyKeys } from '../../schema/idempotency-keys.ts';
import { isActive } from '../tenants/tenants.ts';

type KeyState =
  /** The key is new: this request is the first, and must `remember` its response. */
  | { kind: 'first' }
  | { kind: 'answered'; request: string; response: JsonObject }
  /** The tenant is not active. */
  | { kind: 'inactive' };

/** Waits for a request with the same key that is in progress. Call it inside the transaction that does the work. */
export async function takeKey(tx: Executor, tenantId: TenantId, key: string, request: string): Promise<KeyState> {
  const inserted = await tx.execute(sql`/* idempotency_keys.take */
    insert into idempotency_keys (tenant_id, key, request)
    select ${tenantId}::bigint, ${key}, ${request} where ${isActive(tenantId)}
    on conflict do nothing returning 1`);
  if (inserted.length > 0) return { kind: 'first' };
  const [row] = await tx
    .select({ request: idempotencyKeys.request, response: idempotencyKeys.response })
    .from(idempotencyKeys)
    .where(and(eq(idempotencyKeys.tenantId, tenantId), eq(idempotencyKeys.key, key)));
  if (row === undefined) return { kind: 'inactive' };
  if (row.response === null)
    throw new Error(`The idempotency key ${JSON.stringify(key)} is stored without a response.`);
  return { kind: 'answered', request: row.request, response: row.response };
}

export async function remember(tx: Executor, tenantId: TenantId, key: string, response: JsonObject): Promise<void> {
  await tx
    .update(idempotencyKeys)
    .set({ response })
    .where(and(eq(idempotencyKeys.tenantId, tenantId), eq(idempotencyKeys.key, key)));
}

/** Deletes keys that are older than a day, at most `most`. Skips locked rows. Returns how many were deleted. */
export async function forgetOldKeys(executor: Executor, most: number): Promise<number> {
  const rows = await executor.execute(sql`/* idempotency_keys.delete_old */
    with old as materialized (
      select tenant_id, key from idempotency_keys where created_at < now() - interval '1 day'
      order by created_at limit ${most} for update skip locked
    )
    delete from idempotency_keys k using old
    where k.tenant_id = old.tenant_id and k.key = old.key returning 1`);
  return rows.length;
}
