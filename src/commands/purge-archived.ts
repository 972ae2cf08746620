/** Purge: contexts that were archived for long enough are removed for good, each in a transaction of its own. */
import { findPurgeable, lockFree, isPurgeable } from '../db/expiry.ts';
import { removeWorker } from './delete-worker.ts';
import type { CommandPorts } from './ports.ts';

/**
 * At most `most` of the oldest, by whoever finds them free. `found`: how many there were to look at. One that cannot be
 * removed holds up no other one: what failed is thrown at the end.
 */
export async function purgeArchived(
  ports: Pick<CommandPorts, 'database' | 'wakeQueue' | 'bus' | 'times'>,
  archivedDays: number,
  most: number,
): Promise<{ found: number; purged: number }> {
  const found = await findPurgeable(ports.database.db, archivedDays, most);
  const failures: unknown[] = [];
  let purged = 0;
  for (const worker of found) {
    const isGone = await removeWorker(
      ports,
      worker,
      async (tx) =>
        (await lockFree(tx, worker.contextId)) && (await isPurgeable(tx, worker.contextId, archivedDays)),
    ).catch((error: unknown) => {
      failures.push(error);
      return false;
    });
    if (isGone) purged += 1;
  }
  if (failures.length > 0) throw failures[0];
  return { found: found.length, purged };
}
