/**
 * Housekeeping removes old data, apart from the sweeps and less often. Every worker process does it, at random
 * intervals. A process skips rows that another one has locked, and each batch commits on its own, so that a process may
 * die at any point.
 */
import { purgeArchived } from '../../commands/workers/purge-archived.ts';
import { forgetKeys } from '../../db/write/api-keys.ts';
import { archiveIdle } from '../../db/write/contexts/expiry.ts';
import { forgetThrottles } from '../../db/processes/throttles.ts';
import { forgetOldKeys } from '../../db/write/inputs/idempotency.ts';
import { forgetEnded } from '../../db/processes/processes.ts';
import { forgetSessions } from '../../db/write/sessions.ts';
import { forgetRevocations } from '../../db/write/tokens.ts';
import { forgetSubmissions } from '../../db/submissions/due-submissions.ts';
import { forgetReceipts } from '../../db/submissions/receipts.ts';
import { forgetToolLists } from '../../db/model-calls/tool-lists.ts';
import { forgetUse } from '../../db/calls/tool-use.ts';
import { forgetDeliveries, forgetWebhooks } from '../../db/webhooks/webhooks.ts';
import type { WorkerState } from './ports.ts';
import { Rounds } from './rounds.ts';
import { removeOrphans } from './workspaces.ts';

/** Time between two rounds, in milliseconds. */
const ROUND_MS = 45_000;

const ARCHIVED_AT_ONCE = 200;
const PURGED_AT_ONCE = 20;
const KEYS_AT_ONCE = 5_000;
const LISTS_AT_ONCE = 100;
const DELIVERIES_AT_ONCE = 500;

/** Batches of each kind in one round; the next round does the rest. */
const BATCHES = 50;

type State = Pick<WorkerState, 'database' | 'wakeQueue' | 'bus' | 'times' | 'expiry' | 'log' | 'random'>;

/** Its `stop` resolves after the current batch. */
export function createHousekeeper(state: State): Rounds {
  return new Rounds(ROUND_MS, state.random, (stopping) =>
    runHousekeeping(state, () => stopping.aborted).catch((error: unknown) =>
      state.log.warn({ err: error }, 'housekeeping failed'),
    ),
  );
}

export async function runHousekeeping(state: State, isStopped: () => boolean = () => false): Promise<void> {
  const { db } = state.database;
  const { timeouts, archivedDays, workspaces } = state.expiry;
  await forgetEnded(db);
  await forgetThrottles(db);
  await inBatches(isStopped, async () => (await forgetOldKeys(db, KEYS_AT_ONCE)) === KEYS_AT_ONCE);
  await inBatches(isStopped, async () => (await forgetSessions(db, KEYS_AT_ONCE)) === KEYS_AT_ONCE);
  await inBatches(isStopped, async () => (await forgetKeys(db, KEYS_AT_ONCE)) === KEYS_AT_ONCE);
  await inBatches(isStopped, async () => (await forgetRevocations(db, KEYS_AT_ONCE)) === KEYS_AT_ONCE);
  await inBatches(isStopped, async () => (await forgetToolLists(db, LISTS_AT_ONCE)) === LISTS_AT_ONCE);
  await inBatches(isStopped, async () => (await forgetUse(db, KEYS_AT_ONCE)) === KEYS_AT_ONCE);
  await inBatches(isStopped, async () => (await forgetDeliveries(db, DELIVERIES_AT_ONCE)) === DELIVERIES_AT_ONCE);
  await inBatches(isStopped, async () => (await forgetWebhooks(db, DELIVERIES_AT_ONCE)) === DELIVERIES_AT_ONCE);
  await inBatches(isStopped, async () => (await forgetSubmissions(db, KEYS_AT_ONCE)) >= KEYS_AT_ONCE);
  await inBatches(isStopped, async () => (await forgetReceipts(db, KEYS_AT_ONCE)) === KEYS_AT_ONCE);
  let archived = 0;
  await inBatches(isStopped, async () => {
    const done = await archiveIdle(db, timeouts, ARCHIVED_AT_ONCE);
    archived += done.archived;
    return done.looked === ARCHIVED_AT_ONCE;
  });
  let purged = 0;
  await inBatches(isStopped, async () => {
    if (archivedDays === null) return false;
    const done = await purgeArchived(state, archivedDays, PURGED_AT_ONCE);
    purged += done.purged;
    // If none could be locked, another process is purging them.
    return done.found === PURGED_AT_ONCE && done.purged > 0;
  });
  if (workspaces !== null) await clearWorkspaces(state, workspaces, isStopped);
  if (archived + purged > 0) state.log.info({ archived, purged }, 'archived and purged old contexts');
}

async function clearWorkspaces({ database, log }: State, root: string, isStopped: () => boolean): Promise<void> {
  const swept = await removeOrphans(database.db, root, isStopped);
  if (swept.kind === 'foreign') log.warn('the workspace folder belongs to another database: no workspace is removed');
  else if (swept.removed > 0) log.info({ removed: swept.removed }, 'removed workspaces of deleted contexts');
}

/** Repeats until a batch returns false, at most `BATCHES` times. */
async function inBatches(isStopped: () => boolean, batch: () => Promise<boolean>): Promise<void> {
  let isMore = true;
  for (let left = BATCHES; isMore && left > 0 && !isStopped(); left -= 1) isMore = await batch();
}
