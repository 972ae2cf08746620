/** Brings workers in memory to rest: nothing is left to do for them, or only waits without an end are left. */
import type { VirtualClock } from './clock.ts';
import type { MemoryWorker } from './worker.ts';

/** `workers`: as of each step, in the order in which they run. `before`: runs before each step. */
export async function bringToRest(
  clock: VirtualClock,
  workers: () => readonly MemoryWorker[],
  before: () => void = () => undefined,
): Promise<void> {
  for (;;) {
    before();
    if (await isAny(workers(), (worker) => worker.runDue())) continue;
    if (await isAny(workers(), (worker) => worker.askPeople())) continue;
    const ends = workers().flatMap(({ waitsUntil }) => waitsUntil ?? []);
    if (ends.length === 0) return;
    clock.skipTo(Math.min(...ends));
  }
}

async function isAny(
  workers: readonly MemoryWorker[],
  work: (worker: MemoryWorker) => Promise<boolean>,
): Promise<boolean> {
  for (const worker of workers) if (await work(worker)) return true;
  return false;
}
