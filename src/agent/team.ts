/** The port to other workers: who may be made below one's own, who may be waited for, and how they ended. */
import type { ActiveJob } from '../core/job.ts';
import type { WorkerResults } from '../core/transitions/waits.ts';
import type { Settings } from '../core/settings.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { Arrangement } from '../core/spawn.ts';
import type { OpenCall } from '../core/tool-call.ts';
import type { WorkerAsk } from '../core/worker-asks.ts';

export type AskingCall = { call: OpenCall; ask: WorkerAsk };

/** What a run knows of other workers: read when it is asked, and never kept. Waits out a database that is away. */
export type Team = {
  /** What becomes of each call: in their order. Nothing is written. */
  arrange(
    snapshot: Snapshot,
    job: ActiveJob,
    settings: Settings,
    asking: readonly AskingCall[],
  ): Promise<Arrangement[]>;
  /** Counts anew what waits for jobs that were there before still need. True: one of them needs nothing more. */
  recount(snapshot: Snapshot, waiting: readonly AskingCall[]): Promise<boolean>;
  /** What calls whose wait is over are told of the workers they waited for. */
  outcomes(snapshot: Snapshot, over: readonly AskingCall[]): Promise<WorkerResults>;
};
