/**
 * Limits for reads that may take long: PostgreSQL cancels each statement that exceeds its time limit, and regularly
 * checks whether the client is still connected. Both are set for one transaction, in the round trip that starts it. So
 * a pooler in transaction mode needs no setting for them, and no other user of the connection inherits them.
 */
import { sql, type SQL } from 'drizzle-orm';

/** In milliseconds. On Windows, PostgreSQL cannot check the connection, and accepts only 0. */
const CONNECTION_CHECK_MS = sql`case when version() ~* '(visual c|mingw)' then '0' else '500' end`;

/** The statement that sets the limits. `statementMs`: time limit of each statement in the transaction. */
export function readLimits(statementMs: number): SQL {
  return sql`select set_config('statement_timeout', ${String(Math.ceil(statementMs))}, true),
    set_config('client_connection_check_interval', ${CONNECTION_CHECK_MS}, true)`;
}
