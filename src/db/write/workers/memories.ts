/** Memories of workers, by key. */
import { sql } from 'drizzle-orm';
import type { TenantId, WorkerId } from '../../../core/ids.ts';
import type { Executor } from '../../connection/client.ts';
import { decodeText, encodeText } from '../../connection/codec.ts';

type Of = { tenantId: TenantId; workerId: WorkerId };
type Memory = { key: string; value: string };

/**
 * Creates or overwrites a memory. Locks the worker's row first, so that concurrent calls cannot exceed the limits
 * together. `count`, `total`: the limits of one worker on memories and on their characters in all.
 */
export async function remember(
  tx: Executor,
  { tenantId, workerId }: Of,
  { key, value }: Memory,
  { count, total }: { count: number; total: number },
): Promise<'done' | 'full' | 'gone'> {
  const [worker] = await tx.execute<{ id: WorkerId }>(sql`/* memories.lock_worker */
    select w.id from workers w where w.id = ${workerId} and w.tenant_id = ${tenantId} for no key update`);
  if (worker === undefined) return 'gone';
  const [kept, text] = [encodeText(key), encodeText(value)];
  const [room] = await tx.execute<{ free: boolean }>(sql`
    select count(*) < ${count} and coalesce(sum(length(m.key) + length(m.value)), 0) + ${kept.length + text.length} <= ${total} as free
    from memories m where m.worker_id = ${workerId} and m.tenant_id = ${tenantId} and m.key <> ${kept}`);
  if (room?.free !== true) return 'full';
  await tx.execute(sql`/* memories.set */
    insert into memories (worker_id, tenant_id, key, value) values (${workerId}, ${tenantId}, ${kept}, ${text})
    on conflict (worker_id, key) do update set value = excluded.value, updated_at = now()`);
  return 'done';
}

export async function forget(executor: Executor, { tenantId, workerId }: Of, key: string): Promise<void> {
  await executor.execute(sql`/* memories.delete */
    delete from memories where worker_id = ${workerId} and tenant_id = ${tenantId} and key = ${encodeText(key)}`);
}

/** `key` null: all memories, ordered by key. */
export async function recall(executor: Executor, { tenantId, workerId }: Of, key: string | null): Promise<Memory[]> {
  const rows = await executor.execute<Memory>(sql`
    select m.key, m.value from memories m where m.worker_id = ${workerId} and m.tenant_id = ${tenantId}
      and (${key === null} or m.key = ${encodeText(key ?? '')}) order by m.key collate "C"`);
  return rows.map((row) => ({ key: decodeText(row.key), value: decodeText(row.value) }));
}
