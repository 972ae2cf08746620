/** What a run reads of other workers: of its own tenant, for the rules in `rules.ts`. */
import { suppressDuplicate } from '../../../commands/suppress-duplicate.ts';
import { countedFor, limitsOf, type TenantLimits, type Usage } from '../../../core/access/quotas.ts';
import type { JobId, ToolCallId, WorkerId } from '../../../core/ids.ts';
import type { Lease } from '../../../core/run/snapshot.ts';
import { recount, type Recounted } from '../../../db/calls/awaited.ts';
import { readUsage } from '../../../db/read/installation/usage.ts';
import {
  readOutcomes,
  readParent,
  readRelations,
  readSpawned,
  type AskedOutcomes,
  type Parent,
  type WorkerOutcome,
  type WorkerRelation,
} from '../../../db/run/team.ts';
import type { WorkerState } from '../../process/ports.ts';
import { roleLookup, type RoleLookup } from './roles.ts';

/** What the tenant has, and its limits for it. */
export type Room = { limits: TenantLimits; usage: Usage };

export type TeamStore = {
  roles: RoleLookup;
  /** Null: the worker is being deleted. `jobId`: the job that asks. */
  parent(workerId: WorkerId, jobId: JobId): Promise<Parent | null>;
  /** For so many more workers. `own`: the limits of the tenant. Null: no limit concerns workers and jobs. */
  room(own: TenantLimits, count: number): Promise<Room | null>;
  /** Those of `workerIds` that exist. */
  relations(above: WorkerId, workerIds: readonly WorkerId[]): Promise<WorkerRelation[]>;
  outcomes(asked: AskedOutcomes): Promise<Map<ToolCallId, WorkerOutcome[]>>;
  /** The worker that each call created, or first waits for. */
  spawned(callIds: readonly ToolCallId[]): Promise<Map<ToolCallId, WorkerId>>;
  /** A result reports the end of these jobs, so no notice does. */
  suppressDuplicate(jobIds: readonly JobId[]): Promise<void>;
  /** True: one of the calls needs no more jobs. */
  recount(calls: readonly Recounted[]): Promise<boolean>;
};

type Parts = Pick<WorkerState, 'database' | 'wakeQueue' | 'bus' | 'abilities' | 'times'>;

/** `lease`: of the run. */
export function databaseStore(parts: Parts, lease: Lease): TeamStore {
  const { database, abilities } = parts;
  const { db } = database;
  const { tenantId, contextId } = lease;
  return {
    roles: roleLookup(parts, tenantId),
    parent: (workerId, jobId) =>
      readParent(db, tenantId, workerId, { jobId, countsTenant: abilities.team.tenantWorkers !== null }),
    async room(own, count) {
      const limits = limitsOf(own, abilities.team.tenantLimits);
      const upTo = countedFor(limits, { workers: count, queuedJobs: count });
      if (upTo === null) return null;
      // What a running job writes is not limited.
      return { limits, usage: { ...(await readUsage(db, tenantId, upTo)), storedBytes: 0 } };
    },
    relations: (above, workerIds) => readRelations(db, tenantId, above, workerIds),
    outcomes: (asked) => readOutcomes(db, tenantId, asked),
    spawned: (callIds) => readSpawned(db, tenantId, callIds),
    suppressDuplicate: (jobIds) => suppressDuplicate(parts, lease, jobIds),
    recount: (calls) => database.transaction((tx) => recount(tx, tenantId, contextId, calls)),
  };
}
