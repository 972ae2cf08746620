/**
 * Transactions of processes that stand still: their connections are open, and their next word does not come. The server ends
 * those that are idle by itself (`SessionLimits`); of one in the middle of a statement it takes no notice.
 */
import { sql } from 'drizzle-orm';
import type { Executor } from './client.ts';

/** Begins the names of all connections of the platform. */
export const SESSION_PREFIX = 'nightshift-';

/** A process that lives is asked for its next word, and says it, within milliseconds. */
const STILL_MS = 1_000;

/** Ends their connections, and so frees the rows that they hold. Of this database, and of the same user, alone. */
export async function endStandstill(executor: Executor): Promise<void> {
  await executor.execute(sql`
    select pg_terminate_backend(a.pid) from pg_stat_activity a
    where a.datname = current_database() and a.usename = current_user
      and starts_with(a.application_name, ${SESSION_PREFIX}) and a.pid <> pg_backend_pid()
      and a.wait_event_type = 'Client' and a.wait_event = 'ClientRead' and a.backend_xid is not null
      and a.state_change < clock_timestamp() - ${STILL_MS}::float8 * interval '1 millisecond'`);
}
