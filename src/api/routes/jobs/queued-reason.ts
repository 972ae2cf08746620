/** Why a queued job does not run yet, in a sentence. */
import { ALL_PAUSED } from '../../response/status-reason.ts';
import type { QueuedJob } from '../../../db/read/jobs/queued-jobs.ts';

/** `slots`: the limit of the tenant; missing: none. */
export function queuedReason(
  { stopped, active, isBehind, live, isServed, slotsTaken }: QueuedJob,
  slots?: number,
): string {
  if (stopped) return 'The worker is stopped. Start the worker to continue.';
  if (active !== null) return `An earlier job of the same context is ${active}.`;
  if (isBehind) return 'Other jobs of the same context are queued before it.';
  if (!live) return 'No worker process is running: start one with `nightshift worker`.';
  if (!isServed) return ALL_PAUSED;
  if (slots !== undefined && slotsTaken !== null && slotsTaken >= slots)
    return `All slots of the tenant are in use: its limit is ${slots}.`;
  return 'It waits for a free worker process.';
}
