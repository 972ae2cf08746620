/**
 * Reads everything that other transactions may have written to a context. Must run *after* its row was read or locked,
 * so that nothing is older than the counters of the row.
 */
import type { SQL } from 'drizzle-orm';
import type { ContextId } from '../../../core/ids.ts';
import type { SteeredInput } from '../../../core/run/job.ts';
import type { Mailbox } from '../../../core/run/snapshot.ts';
import type { OpenCall } from '../../../core/tools/tool-call.ts';
import type { Executor } from '../../connection/client.ts';
import type { ContextRow } from '../contexts.ts';
import { places } from '../places.ts';
import { readSteers, type Reading } from './inputs.ts';
import { readJobs, type JobsInMailbox } from './jobs.ts';
import { readOpenCalls } from './open-calls.ts';
import { readWorkers, type StoredWorker, type WorkerDefinition } from './worker.ts';

/** The mailbox of a context and the configuration of its worker. */
export type Stored = { mailbox: Mailbox; worker: WorkerDefinition };

/** Null: the worker does not exist. */
export async function readMailbox(executor: Executor, row: ContextRow): Promise<Stored | null> {
  const parts = await readParts(executor, placeOf(row), 'alone');
  return toMailboxes([row], parts).get(row.lease.contextId) ?? null;
}

/** The context of `row`, as statements take it. */
export function placeOf({ lease, activeBranch, steers }: ContextRow): SQL {
  return places([{ ...lease, branch: activeBranch, steers }]);
}

/** The data of contexts outside their rows. */
type Parts = {
  jobs: Map<ContextId, JobsInMailbox>;
  steers: Map<ContextId, SteeredInput[]>;
  calls: Map<ContextId, OpenCall[]>;
  workers: Map<ContextId, StoredWorker>;
};

/** Four statements for all contexts, sent together when `executor` is a transaction. */
export async function readParts(executor: Executor, at: SQL, reading: Reading): Promise<Parts> {
  const [jobs, steers, calls, workers] = await Promise.all([
    readJobs(executor, at, reading),
    readSteers(executor, at, reading),
    readOpenCalls(executor, at),
    readWorkers(executor, at),
  ]);
  return { jobs, steers, calls, workers };
}

export function toMailboxes(
  rows: readonly ContextRow[],
  { jobs, steers, calls, workers }: Parts,
): Map<ContextId, Stored> {
  const stored = rows.flatMap((row): [ContextId, Stored][] => {
    const { contextId } = row.lease;
    const worker = workers.get(contextId);
    if (worker === undefined) return [];
    const { active = null, next = null } = jobs.get(contextId) ?? {};
    const mailbox: Mailbox = {
      lease: row.lease,
      workerId: worker.workerId,
      rootContextId: worker.rootContextId,
      state: row.state,
      stopped: row.stopped,
      wakeSeq: row.wakeSeq,
      controlSeq: row.controlSeq,
      failedClaims: row.failedClaims,
      activeBranch: active?.branch ?? next?.branch ?? row.activeBranch,
      job: active,
      next,
      queued: row.queued,
      steers: steers.get(contextId) ?? [],
      calls: calls.get(contextId) ?? [],
    };
    return [[contextId, { mailbox, worker }]];
  });
  return new Map(stored);
}
