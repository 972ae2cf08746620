/** Purges contexts that have been archived long enough: deletes each in its own transaction. */
import { findPurgeable, lockFree, isPurgeable } from '../../db/write/contexts/expiry.ts';
import { deleteAlone } from './delete-worker.ts';
import type { CommandPorts } from '../ports.ts';

/**
 * Purges at most `most` of the oldest contexts, and skips locked ones. `found`: number of candidates. A failure does
 * not stop the others: the first error is thrown at the end.
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
    const isGone = await deleteAlone(
      ports,
      worker,
      async (tx) => (await lockFree(tx, worker.contextId)) && (await isPurgeable(tx, worker.contextId, archivedDays)),
    ).catch((error: unknown) => {
      failures.push(error);
      return false;
    });
    if (isGone) purged += 1;
  }
  if (failures.length > 0) throw failures[0];
  return { found: found.length, purged };
}
