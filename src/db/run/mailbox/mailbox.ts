/**
 * Reads everything that other transactions may have written to a context. Must run *after* its row was read or locked,
 * so that nothing is older than the counters of the row.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId } from '../../../core/ids.ts';
import type { SteeredInput } from '../../../core/run/job.ts';
import type { Mailbox } from '../../../core/run/snapshot.ts';
import type { OpenCall } from '../../../core/tools/tool-call.ts';
import type { Executor } from '../../connection/client.ts';
import type { ContextRow } from '../contexts.ts';
import { places } from '../places.ts';
import { steersOf, toSteers, type Reading, type SteerRow } from './inputs.ts';
import { isWithoutInput, jobsOf, toJobs, type JobRow, type JobsInMailbox } from './jobs.ts';
import { openCallsOf, toOpenCalls, type CallRow } from './open-calls.ts';
import { toWorkers, workersOf, type StoredWorker, type WorkerRow } from './worker.ts';

/** The mailbox of a context and the configuration of its worker. */
export type Stored = { mailbox: Mailbox; worker: StoredWorker };

/** Null: the worker does not exist. */
export async function readMailbox(executor: Executor, row: ContextRow): Promise<Stored | null> {
  const parts = await readParts(executor, placeOf(row), 'alone');
  return toMailboxes([row], parts).get(row.lease.contextId) ?? null;
}

/** The context of `row`, as statements take it. */
export function placeOf({ lease, activeBranch, steers }: ContextRow): SQL {
  return places([{ ...lease, branch: activeBranch, steers }]);
}

/** The data of contexts outside their rows. `tooLarge`: contexts of which nothing was read, because of their inputs. */
type Parts = {
  tooLarge: ReadonlySet<ContextId>;
  jobs: Map<ContextId, JobsInMailbox>;
  steers: Map<ContextId, SteeredInput[]>;
  calls: Map<ContextId, OpenCall[]>;
  workers: Map<ContextId, StoredWorker>;
};

/** A row of one of the parts. */
type PartRow =
  | { part: 'job'; row: JobRow }
  | { part: 'steer'; row: SteerRow }
  | { part: 'call'; row: CallRow }
  | { part: 'worker'; row: WorkerRow };

/**
 * All parts of all contexts in one statement, each row as JSON: with small rows most of the time goes into the statements
 * themselves. `json`, because `jsonb` would not keep the text of a configuration. `shared`: contexts whose inputs do not
 * fit are left out.
 */
export async function readParts(executor: Executor, at: SQL, reading: Reading): Promise<Parts> {
  const of = sql.raw('at');
  const all = await executor.execute<PartRow>(sql`/* mailbox.read */
    with at as materialized (select at.* from ${at})
    select 'job' as part, to_json(r) as row from (${jobsOf(of, reading)}) r
    union all select 'steer', to_json(r) from (${steersOf(of, reading)}) r
    union all select 'call', to_json(r) from (${openCallsOf(of)}) r
    union all select 'worker', to_json(r) from (${workersOf(of)}) r`);
  const tooLarge = new Set(reading === 'shared' ? all.flatMap(withoutInput) : []);
  const rows = tooLarge.size === 0 ? all : all.filter(({ row }) => !tooLarge.has(row.context_id));
  return {
    tooLarge,
    jobs: toJobs(rows.flatMap((row) => (row.part === 'job' ? [row.row] : []))),
    steers: toSteers(rows.flatMap((row) => (row.part === 'steer' ? [row.row] : []))),
    calls: toOpenCalls(rows.flatMap((row) => (row.part === 'call' ? [row.row] : []))),
    workers: toWorkers(rows.flatMap((row) => (row.part === 'worker' ? [row.row] : []))),
  };
}

/** The context of a row whose input is missing. */
function withoutInput(row: PartRow): ContextId[] {
  const isMissing =
    (row.part === 'job' && isWithoutInput(row.row)) || (row.part === 'steer' && row.row.content === null);
  return isMissing ? [row.row.context_id] : [];
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
      allow: row.allow,
      isTenantActive: row.isTenantActive,
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
