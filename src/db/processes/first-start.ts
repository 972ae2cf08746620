/** The first start on an empty database, across all tenants: a lock for it, and whether the database is empty. */
import { sql } from 'drizzle-orm';
import type { Executor } from '../connection/client.ts';

/** An arbitrary lock number that is used only here. */
const LOCK = 7_227_003;

/**
 * Several starts run one after another. Each continues when the transaction before it has ended, and sees its changes.
 */
export async function takeTurn(tx: Executor): Promise<void> {
  await tx.execute(sql`/* installation.lock */ select pg_advisory_xact_lock(${LOCK})`);
}

/** Whether the database has no contexts, roles or keys, and no worker process ran within the last hour. */
export async function isUntouched(tx: Executor): Promise<boolean> {
  const [row] = await tx.execute<{ untouched: boolean }>(sql`
    select not exists (select 1 from contexts) and not exists (select 1 from roles)
      and not exists (select 1 from processes) and not exists (select 1 from idempotency_keys) as untouched`);
  return row?.untouched === true;
}
