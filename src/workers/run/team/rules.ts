/**
 * The rules about other workers: which children a worker may create, with which settings, which workers it may wait for, and
 * what it learns of them. A limit holds as of the read, so workers that spawn at the same time may exceed it by their number.
 */
import type { AskingCall } from '../../../agent/calls/team.ts';
import { overQuota } from '../../../core/access/quotas.ts';
import type { Code } from '../../../core/errors.ts';
import type { ContextId, Ids, JobId, MessageId, ToolCallId, WorkerId } from '../../../core/ids.ts';
import { isFinished, type ActiveJob } from '../../../core/run/job.ts';
import type { Snapshot } from '../../../core/run/snapshot.ts';
import type { Clock } from '../../../core/time.ts';
import type { OpenCall } from '../../../core/tools/tool-call.ts';
import type { TraceParent } from '../../../core/tracing/trace-parent.ts';
import type { WorkerResults } from '../../../core/transitions/waits.ts';
import type { Settings } from '../../../core/workers/settings.ts';
import type { Arrangement, CallResult } from '../../../core/workers/spawn.ts';
import { workersOf, type SpawnAsk, type WaitAsk } from '../../../core/workers/worker-asks.ts';
import {
  effectiveLimits,
  limitsOf,
  limitValues,
  overLimit,
  type WorkerLimits,
} from '../../../core/workers/worker-limits.ts';
import type { Parent, WorkerOutcome } from '../../../db/run/team.ts';
import type { WorkerState } from '../../process/ports.ts';
import { childWorkerSpec } from '../child-worker-spec.ts';
import type { TeamAbilities } from '../team-abilities.ts';
import { errorResult, spawnResult, waitResult } from '../team-results.ts';
import type { Room, TeamStore } from './store.ts';

export type Rules = { abilities: Pick<WorkerState['abilities'], 'team' | 'resolve'>; ids: Ids; clock: Clock };

/** The worker that asks, and its running job. */
export type Self = { snapshot: Snapshot; job: ActiveJob; settings: Settings; traceParent: TraceParent | null };

/** In the order of the calls. Nothing is written. */
export async function arrange(
  rules: Rules,
  store: TeamStore,
  self: Self,
  asking: readonly AskingCall[],
): Promise<Arrangement[]> {
  const { snapshot, job } = self;
  const arranged: Arrangement[] = [];
  const spawns = idsOf(asking, 'spawn').length;
  const parent = spawns === 0 ? null : await store.parent(snapshot.workerId, job.id);
  const room = parent === null ? null : await store.room(parent.tenantLimits, spawns);
  let made = 0;
  for (const { call, ask } of asking) {
    if (ask.kind === 'wait') {
      arranged.push(await arrangeWait(rules, store, snapshot, { call, ask }));
      continue;
    }
    const one = await arrangeSpawn(rules, self, { store, parent, made, room }, { call, ask });
    arranged.push(one);
    if (one.kind === 'spawned') made += 1;
  }
  return arranged;
}

/** The results of calls whose waits are over. */
export async function outcomes(
  { abilities }: Rules,
  store: TeamStore,
  over: readonly AskingCall[],
): Promise<WorkerResults> {
  const { toolResult } = abilities.team;
  const spawned = await store.spawned(idsOf(over, 'spawn'));
  const asked = over.map(({ call: { id: callId }, ask }) => {
    const child = spawned.get(callId);
    const workerIds = ask.kind === 'wait' ? (workersOf(ask) ?? []) : child === undefined ? [] : [child];
    return { callId, workers: workerIds.map((workerId) => ({ workerId, jobId: null })) };
  });
  const found = await store.outcomes(asked);
  const waited = idsOf(over, 'wait').flatMap((id) => found.get(id) ?? []);
  await store.suppressDuplicate(endedOf(waited));
  return new Map(
    over.map(({ call: { id }, ask }) => {
      const of = found.get(id) ?? [];
      return [id, ask.kind === 'spawn' ? spawnResult(of[0], toolResult) : waitResult(of, toolResult)];
    }),
  );
}

export function recounted({ call, ask }: AskingCall) {
  return ask.kind === 'wait' ? [{ callId: call.id, any: ask.mode === 'any' }] : [];
}

function idsOf(asking: readonly AskingCall[], kind: 'spawn' | 'wait'): ToolCallId[] {
  return asking.flatMap(({ call, ask }) => (ask.kind === kind ? [call.id] : []));
}

function endedOf(of: readonly WorkerOutcome[]): JobId[] {
  return of.flatMap(({ jobId, status }) => (jobId !== null && status !== null && isFinished(status) ? [jobId] : []));
}

function answeredWith(call: OpenCall, result: CallResult): Arrangement {
  return { kind: 'answered', call, result };
}

/** `made`: children that earlier calls of the same answer create. `room`: for what the tenant adds. */
type Family = { store: TeamStore; parent: Parent | null; made: number; room: Room | null };

async function arrangeSpawn(
  { abilities, ids }: Rules,
  { snapshot: { workerId, allow }, job, settings, traceParent }: Self,
  { store, parent, made, room }: Family,
  { call, ask }: { call: OpenCall; ask: SpawnAsk },
): Promise<Arrangement> {
  const refused = (code: Code, message: string): Arrangement =>
    answeredWith(call, errorResult(code, `No worker was created. ${message}`));
  if (parent === null || parent.job === null) return refused('not_found', 'This worker is being deleted.');
  const { team } = abilities;
  const limits = treeLimitsOf(team, parent);
  const { counts } = parent;
  const after = { children: counts.children + made, inTree: counts.inTree + made, ofTenant: counts.ofTenant + made };
  const over = overLimit({ ...counts, ...after }, limits, team.tenantWorkers);
  if (over !== null) return refused('worker_limit', over);
  const full = room && overQuota(room.limits, room.usage, { workers: made + 1, queuedJobs: made + 1 });
  if (full !== null) return refused(full.code, full.message);
  const { roles } = store;
  const spec = await childWorkerSpec({ abilities, roles }, { allow, settings, parent, limits }, ask);
  if (spec.kind === 'refused') return refused(spec.code, spec.message);
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
  return limitValues(effectiveLimits(limitsOf(team.limits, {}), ofRole?.limits ?? {}, config.limits ?? {}));
}

async function arrangeWait(
  { abilities, clock }: Rules,
  store: TeamStore,
  { workerId }: Snapshot,
  { call, ask }: { call: OpenCall; ask: WaitAsk },
): Promise<Arrangement> {
  const refused = (code: Code, message: string): Arrangement => answeredWith(call, errorResult(code, message));
  const workerIds = workersOf(ask);
  if (workerIds === null) return refused('not_found', 'worker_ids contains a value that is not a worker id.');
  const relations = await store.relations(workerId, workerIds);
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
    const found = (await store.outcomes([{ callId: call.id, workers }])).get(call.id) ?? [];
    await store.suppressDuplicate(endedOf(found));
    return answeredWith(call, waitResult(found, abilities.team.toolResult));
  }
  const until = ask.timeoutMs === null ? null : clock.now() + ask.timeoutMs;
  return { kind: 'awaits', call, until, needs: ask.mode === 'any' ? 1 : jobs.length, jobs };
}
