/** The connection of a worker process to the database of a service, for relaying its outbox. */
import type { Config } from '../../config/config.ts';
import type { NamedOutbox } from '../../core/submissions/outbox.ts';
import { openDatabase, type Database } from '../../db/connection/client.ts';
import { FROZEN_LIMITS } from '../../db/processes/frozen-sessions.ts';
import { OUTBOX_LOCK_MS } from '../../db/outbox/install.ts';

/**
 * Its transaction waits while another one stores the rows in the installation. So it may be idle longer than others: as
 * long as a process may hold jobs without a heartbeat. `name`: shown in `pg_stat_activity`; without the prefix of
 * Nightshift's own sessions, which sweeps end if they are idle in a transaction.
 */
export function openOutbox(
  { url, schema }: Pick<NamedOutbox, 'url' | 'schema'>,
  { leaseMs }: Pick<Config, 'leaseMs'>,
  name: string,
): Database {
  const limits = { ...FROZEN_LIMITS, idleInTransaction: leaseMs, lock: OUTBOX_LOCK_MS };
  return openDatabase(url, { max: 1, schema, name, silentMs: leaseMs, limits });
}
