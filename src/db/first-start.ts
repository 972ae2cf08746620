/** What a start does once for a whole database, over all tenants: whose turn it is, and whether there is anything yet. */
import { sql } from 'drizzle-orm';
import type { Executor } from './client.ts';

/** An arbitrary number that only this uses. */
const LOCK = 7_227_003;

/** Of several starts one goes on; the others once its transaction has ended, and see what it did by later statements. */
export async function takeTurn(tx: Executor): Promise<void> {
  await tx.execute(sql`/* installation.lock */ select pg_advisory_xact_lock(${LOCK})`);
}

/** Whether nothing was ever made here, and no worker process was here within the hour. */
export async function isUntouched(tx: Executor): Promise<boolean> {
  const [row] = await tx.execute<{ untouched: boolean }>(sql`
    select not exists (select 1 from contexts) and not exists (select 1 from roles)
      and not exists (select 1 from processes) and not exists (select 1 from idempotency_keys) as untouched`);
  return row?.untouched === true;
}
