/**
 * Updates the search index, apart from the sweeps, so that sweeps never wait for it. Every worker process checks about
 * once a second; the database lets one of them index at a time.
 */
import type { ContextId } from '../../core/ids.ts';
import { indexBacklog } from '../../db/search/search-index.ts';
import type { WorkerState } from './ports.ts';
import { Rounds } from './rounds.ts';

/** Time between two checks, and how long one check may take if there is much to index, in milliseconds. */
const LOOK_MS = 1_000;
const LONGEST_MS = 500;

type Used = Pick<WorkerState, 'database' | 'bus' | 'log' | 'random'>;

/** Its `stop` resolves after the current statement. */
export function createIndexer({ database, bus, log, random }: Used): Rounds {
  // Lists show it, and no other change may follow.
  const onTitled = (contextId: ContextId): void => bus.changed.context(contextId);
  return new Rounds(LOOK_MS, random, async (stopping) => {
    const until = performance.now() + LONGEST_MS;
    try {
      while (!stopping.aborted && (await indexBacklog(database.db, onTitled)) && performance.now() < until);
    } catch (error) {
      log.warn({ err: error }, 'could not update the search index');
    }
  });
}
