/**
 * Sessions of frozen processes: the connection is open, but the next message of its transaction does not come.
 * PostgreSQL terminates idle ones itself (`SessionLimits`), but not a session in the middle of a statement.
 */
import { sql } from 'drizzle-orm';
import type { Executor } from '../connection/client.ts';
import type { SessionLimits } from '../connection/connection.ts';

/** Prefix of the application names of all Nightshift connections. */
export const SESSION_PREFIX = 'nightshift-';

/** A live process sends its next message within milliseconds; a frozen one keeps its locks for at most this long. */
const STILL_MS = 1_000;

/**
 * A live process may read nothing for longer than that, while it decodes a long message on a busy machine: closing its
 * connection would make it read the same history again and again. Shorter than the time after which a process is
 * declared dead.
 */
const UNREAD_MS = 5_000;

/** Server-side limits for frozen processes, set on every connection that runs transactions. */
export const FROZEN_LIMITS: Partial<SessionLimits> = { idleInTransaction: STILL_MS, unread: UNREAD_MS };

/**
 * Terminates frozen sessions that hold row locks, only in this database, and of logins that this one may end: its own, and
 * for worker processes that of the API.
 */
export async function terminateFrozenSessions(executor: Executor): Promise<void> {
  await executor.execute(sql`/* processes.end_frozen_sessions */
    select pg_terminate_backend(a.pid) from pg_stat_activity a
    where a.datname = current_database() and pg_has_role(a.usesysid, 'usage')
      and starts_with(a.application_name, ${SESSION_PREFIX}) and a.pid <> pg_backend_pid()
      and a.wait_event_type = 'Client' and a.wait_event = 'ClientRead' and a.backend_xid is not null
      and a.state_change < clock_timestamp() - ${STILL_MS}::float8 * interval '1 millisecond'`);
}
