/**
 * Other workers, for a run: which children it may create, with which settings, and which workers it may wait for. Only
 * reads. A limit holds as of the read, so workers that spawn at the same time may exceed it by their number.
 */
import type { TraceParent } from '../../core/tracing/trace-parent.ts';
import type { RunSignals } from '../../agent/run-signals.ts';
import type { AskingCall, Team } from '../../agent/calls/team.ts';
import { suppressDuplicate } from '../../commands/suppress-duplicate.ts';
import { countedFor, limitsOf, overQuota, type TenantLimits, type Usage } from '../../core/access/quotas.ts';
import type { Code } from '../../core/errors.ts';
import type { ContextId, JobId, MessageId, TenantId, ToolCallId, WorkerId } from '../../core/ids.ts';
import { isFinished, type ActiveJob } from '../../core/run/job.ts';
import type { Settings } from '../../core/workers/settings.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import type { Arrangement, CallResult } from '../../core/workers/spawn.ts';
import { narrowed, overLimit, type WorkerLimits } from '../../core/workers/worker-limits.ts';
import { workersOf, type SpawnAsk, type WaitAsk } from '../../core/workers/worker-asks.ts';
import type { OpenCall } from '../../core/tools/tool-call.ts';
import { readUsage } from '../../db/read/installation/usage.ts';
import { recount } from '../../db/calls/awaited.ts';
import {
  readOutcomes,
  readParent,
  readSpawned,
  readRelations,
  type Parent,
  type WorkerOutcome,
} from '../../db/run/team.ts';
import { persist } from './journal.ts';
import { childWorkerSpec } from './child-worker-spec.ts';
import type { WorkerState } from '../process/ports.ts';
import type { TeamAbilities } from './team-abilities.ts';
import { errorResult, spawnResult, waitResult } from './team-results.ts';

type Parts = Pick<WorkerState, 'database' | 'wakeQueue' | 'bus' | 'abilities' | 'ids' | 'clock' | 'times'>;

/** `traceParentOf`: the run of a job, in a trace. */
export function createTeam(
  parts: Parts,
  signals: RunSignals,
  traceParentOf: (job: ActiveJob) => TraceParent | null,
): Team {
  const { database, abilities } = parts;
  const { toolResult } = abilities.team;
  return {
    arrange: (snapshot, job, settings, asking) =>
      persist(signals, () => arrangeAll(parts, { snapshot, job, settings, traceParent: traceParentOf(job) }, asking)),
    recount: ({ lease }, waiting) =>
      persist(signals, () =>
        database.transaction((tx) => recount(tx, lease.tenantId, lease.contextId, waiting.flatMap(recounted))),
      ),
    outcomes: ({ lease }, over) =>
      persist(signals, async () => {
        const { tenantId } = lease;
        const spawned = await readSpawned(database.db, tenantId, idsOf(over, 'spawn'));
        const awaitedCalls = over.map(({ call: { id: callId }, ask }) => {
          const child = spawned.get(callId);
          const workerIds = ask.kind === 'wait' ? (workersOf(ask) ?? []) : child === undefined ? [] : [child];
          return { callId, workers: workerIds.map((workerId) => ({ workerId, jobId: null })) };
        });
        const outcomes = await readOutcomes(database.db, tenantId, awaitedCalls);
        const waited = idsOf(over, 'wait').flatMap((id) => outcomes.get(id) ?? []);
        await suppressDuplicate(parts, lease, endedOf(waited));
        return new Map(
          over.map(({ call: { id }, ask }) => {
            const of = outcomes.get(id) ?? [];
            return [id, ask.kind === 'spawn' ? spawnResult(of[0], toolResult) : waitResult(of, toolResult)];
          }),
        );
      }),
  };
}

function idsOf(asking: readonly AskingCall[], kind: 'spawn' | 'wait'): ToolCallId[] {
  return asking.flatMap(({ call, ask }) => (ask.kind === kind ? [call.id] : []));
}

function endedOf(outcomes: readonly WorkerOutcome[]): JobId[] {
  return outcomes.flatMap(({ jobId, status }) =>
    jobId !== null && status !== null && isFinished(status) ? [jobId] : [],
  );
}

function recounted({ call, ask }: AskingCall) {
  return ask.kind === 'wait' ? [{ callId: call.id, any: ask.mode === 'any' }] : [];
}

/** The worker that asks, and its running job. */
type Self = { snapshot: Snapshot; job: ActiveJob; settings: Settings; traceParent: TraceParent | null };

async function arrangeAll(parts: Parts, self: Self, asking: readonly AskingCall[]): Promise<Arrangement[]> {
  const { snapshot, job } = self;
  const { lease } = snapshot;
  const arranged: Arrangement[] = [];
  const spawns = idsOf(asking, 'spawn').length;
  const parent = spawns === 0 ? null : await parentOf(parts, snapshot, job);
  const room = parent === null ? null : await roomFor(parts, lease.tenantId, parent.tenantLimits, spawns);
  let made = 0;
  for (const { call, ask } of asking) {
    if (ask.kind === 'wait') {
      arranged.push(await arrangeWait(parts, snapshot, call, ask));
      continue;
    }
    const one = await arrangeSpawn(parts, self, { parent, made, room }, { call, ask });
    arranged.push(one);
    if (one.kind === 'spawned') made += 1;
  }
  return arranged;
}

async function parentOf({ database, abilities }: Parts, { lease, workerId }: Snapshot, job: ActiveJob) {
  const countsTenant = abilities.team.tenantWorkers !== null;
  return readParent(database.db, lease.tenantId, workerId, { jobId: job.id, countsTenant });
}

/** What the tenant has, and its limits for it; null: none concerns workers and jobs. */
type Room = { limits: TenantLimits; usage: Usage };

async function roomFor(
  { database, abilities }: Parts,
  tenantId: TenantId,
  own: TenantLimits,
  count: number,
): Promise<Room | null> {
  const limits = limitsOf(own, abilities.team.tenantLimits);
  const upTo = countedFor(limits, { workers: count, queuedJobs: count });
  if (upTo === null) return null;
  // What a running job writes is not limited.
  return { limits, usage: { ...(await readUsage(database.db, tenantId, upTo)), storedBytes: 0 } };
}

function answeredWith(call: OpenCall, result: CallResult): Arrangement {
  return { kind: 'answered', call, result };
}

/** `made`: children that earlier calls of the same answer create. `room`: for what the tenant adds. */
async function arrangeSpawn(
  parts: Parts,
  { snapshot: { lease, workerId, allow }, job, settings, traceParent }: Self,
  { parent, made, room }: { parent: Parent | null; made: number; room: Room | null },
  { call, ask }: { call: OpenCall; ask: SpawnAsk },
): Promise<Arrangement> {
  const refused = (code: Code, message: string): Arrangement =>
    answeredWith(call, errorResult(code, `No worker was created. ${message}`));
  if (parent === null || parent.job === null) return refused('not_found', 'This worker is being deleted.');
  const { team } = parts.abilities;
  const limits = treeLimitsOf(team, parent);
  const { counts } = parent;
  const after = { children: counts.children + made, inTree: counts.inTree + made, ofTenant: counts.ofTenant + made };
  const over = overLimit({ ...counts, ...after }, limits, team.tenantWorkers);
  if (over !== null) return refused('worker_limit', over);
  const full = room && overQuota(room.limits, room.usage, { workers: made + 1, queuedJobs: made + 1 });
  if (full !== null) return refused(full.code, full.message);
  const spec = await childWorkerSpec(parts, { tenantId: lease.tenantId, allow, settings, parent, limits }, ask);
  if (spec.kind === 'refused') return refused(spec.code, spec.message);
  const { ids } = parts;
  return {
    kind: 'spawned',
    call,
    spawn: {
      callId: call.id,
      workerId: ids.next<WorkerId>(),
      contextId: ids.next<ContextId>(),
      jobId: ids.next<JobId>(),
      messageId: ids.next<MessageId>(),
      name: ask.name ?? ask.role ?? 'worker',
      role: spec.role,
      config: spec.config,
      parentWorkerId: workerId,
      user: parent.user,
      rootWorkerId: parent.rootWorkerId,
      parentJobId: job.id,
      depth: counts.depth + 1,
      detached: ask.detached,
      input: ask.input,
      jobUser: job.user,
      hops: parent.job.hops + 1,
      priority: Math.max(1, parent.job.priority),
      deadline: job.deadline,
      traceParent,
      awaited: ask.wait,
    },
  };
}

/** The narrowest of the limits of the config file, the worker's role, and its own config. */
export function treeLimitsOf(team: TeamAbilities, { role, definition, config }: Parent): WorkerLimits {
  const ofRole = definition ?? (role === null ? undefined : team.roles.get(role.name));
  return narrowed(narrowed(team.limits, ofRole?.limits ?? {}), config.limits ?? {});
}

async function arrangeWait(
  parts: Parts,
  { lease, workerId }: Snapshot,
  call: OpenCall,
  ask: WaitAsk,
): Promise<Arrangement> {
  const { database, abilities, clock } = parts;
  const { tenantId } = lease;
  const refused = (code: Code, message: string): Arrangement => answeredWith(call, errorResult(code, message));
  const workerIds = workersOf(ask);
  if (workerIds === null) return refused('not_found', 'worker_ids contains a value that is not a worker id.');
  const relations = await readRelations(database.db, tenantId, workerId, workerIds);
  const wrong = workerIds.find((id) => !relations.some((one) => one.workerId === id && one.isBelow));
  if (wrong === workerId) return refused('invalid_request', 'A worker cannot wait for itself.');
  if (wrong !== undefined) {
    return refused(
      'not_found',
      `No worker below this one has the id ${wrong}. Wait only for workers that this one, or one below it, created.`,
    );
  }
  const jobs = relations
    .flatMap((one) => one.unfinished.map((jobId) => ({ jobId, workerId: one.workerId })))
    .map((one, ordinal) => ({ ...one, callId: call.id, ordinal }));
  const isAnyDone = ask.mode === 'any' && relations.some(({ unfinished }) => unfinished.length === 0);
  if (jobs.length === 0 || isAnyDone || ask.timeoutMs === 0) {
    const workers = workerIds.map((id) => {
      const jobId = relations.find((one) => one.workerId === id)?.unfinished.at(-1) ?? null;
      return { workerId: id, jobId };
    });
    const outcomes = await readOutcomes(database.db, tenantId, [{ callId: call.id, workers }]);
    const workerOutcomes = outcomes.get(call.id) ?? [];
    await suppressDuplicate(parts, lease, endedOf(workerOutcomes));
    return answeredWith(call, waitResult(workerOutcomes, abilities.team.toolResult));
  }
  const until = ask.timeoutMs === null ? null : clock.now() + ask.timeoutMs;
  return { kind: 'awaits', call, until, needs: ask.mode === 'any' ? 1 : jobs.length, jobs };
}
