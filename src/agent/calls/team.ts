/** The port to other workers: creating children, waiting for workers, and their outcomes. */
import type { ActiveJob } from '../../core/run/job.ts';
import type { WorkerResults } from '../../core/transitions/waits.ts';
import type { Settings } from '../../core/workers/settings.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import type { Arrangement } from '../../core/workers/spawn.ts';
import type { OpenCall } from '../../core/tools/tool-call.ts';
import type { WorkerAsk } from '../../core/workers/worker-asks.ts';

export type AskingCall = { call: OpenCall; ask: WorkerAsk };

/** Access to other workers: read on demand and never cached. Waits for a database that is unavailable. */
export type Team = {
  /** The arrangement for each call, in order. Nothing is written. */
  arrange(
    snapshot: Snapshot,
    job: ActiveJob,
    settings: Settings,
    asking: readonly AskingCall[],
  ): Promise<Arrangement[]>;
  /** Recounts how many jobs existing waits still need. True: one of them needs no more. */
  recount(snapshot: Snapshot, waiting: readonly AskingCall[]): Promise<boolean>;
  /** The results for calls whose wait for workers is over. */
  outcomes(snapshot: Snapshot, over: readonly AskingCall[]): Promise<WorkerResults>;
};
