// Short enough that a dead process is found at once; long enough that a busy machine causes no false deaths.
import type { WorkerTimes } from '../../../src/workers/process/ports.ts';

export const CRASH_TIMES: WorkerTimes = {
  heartbeatIntervalMs: 100,
  heartbeatTimeoutMs: 300,
  leaseMs: 10_000,
  sweepMs: 150,
  stopGraceMs: 20_000,
  drainMs: 5_000,
};
