/** Why a queued job does not run yet, in a sentence. */
import { unclaimable } from '../../response/status-reason.ts';
import type { Names } from '../../server/catalog.ts';
import type { QueuedJob } from '../../../db/read/jobs/queued-jobs.ts';

/**
 * `slots`: the limit of the tenant; missing: none. `names`: what the worker processes serve that begin runs; null: not
 * known.
 */
export function queuedReason(job: QueuedJob, { names, slots }: { names: Names | null; slots?: number }): string {
  const { stopped, active, isBehind, slotsTaken } = job;
  if (stopped) return 'The worker is stopped. Start the worker to continue.';
  if (active !== null) return `An earlier job of the same context is ${active}.`;
  if (isBehind) return 'Other jobs of the same context are queued before it.';
  const blocked = unclaimable(job, names);
  if (blocked !== null) return blocked;
  if (slots !== undefined && slotsTaken !== null && slotsTaken >= slots)
    return `All slots of the tenant are in use: its limit is ${slots}.`;
  return 'It waits for a free worker process.';
}
