/**
 * What bounds a read that may take long: PostgreSQL cancels each statement that exceeds its limit, and looks regularly whether
 * the client is still connected. Both are set for one transaction, in the round trip that begins it. A pooler in transaction
 * mode therefore needs no setting for them, and no other user of the connection keeps them.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';

/** In milliseconds. On Windows, PostgreSQL cannot look, and refuses any other value than 0. */
const CONNECTION_CHECK_MS = sql`case when version() ~* '(visual c|mingw)' then '0' else '500' end`;

/** The statement that sets them. `statementMs`: how long each statement of the transaction may take. */
export function readLimits(statementMs: number): SQL {
  return sql`select set_config('statement_timeout', ${String(Math.ceil(statementMs))}, true),
    set_config('client_connection_check_interval', ${CONNECTION_CHECK_MS}, true)`;
}
