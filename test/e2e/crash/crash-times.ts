// Short enough that a dead process is found at once, by its lock and its heartbeat. A live process keeps its lease, even
// where a busy machine gives it no CPU for seconds.
import type { WorkerTimes } from '../../../src/workers/process/ports.ts';

export const CRASH_TIMES: WorkerTimes = {
  heartbeatIntervalMs: 100,
  heartbeatTimeoutMs: 300,
  leaseMs: 45_000,
  sweepMs: 150,
  stopGraceMs: 20_000,
  drainMs: 5_000,
};
