/** What the calls of a run start: inputs to other contexts, and workers below its own. */
import type { RunSignals } from '../../../agent/run-signals.ts';
import { enqueueFromCall } from '../../../commands/calls/enqueue-from-call.ts';
import { spawnFromCall } from '../../../commands/calls/spawn-from-call.ts';
import { performStart, startedBefore, type StartingCall } from '../../../commands/calls/started-step.ts';
import type { Outcome } from '../../../commands/perform.ts';
import { refuse, type Refusal } from '../../../core/errors.ts';
import type { Json } from '../../../core/json.ts';
import type { Snapshot } from '../../../core/run/snapshot.ts';
import type { AskedWorker, CallStarts, Started } from '../../../core/tools/starts.ts';
import { readParent } from '../../../db/run/team.ts';
import type { WorkerState } from '../../process/ports.ts';
import { whileOpen } from './call-steps.ts';
import { childWorkerSpec } from '../child-worker-spec.ts';
import { roleLookup } from '../team/roles.ts';
import { treeLimitsOf } from '../team/rules.ts';

type Parts = Pick<WorkerState, 'database' | 'wakeQueue' | 'bus' | 'abilities' | 'ids' | 'times' | 'peers'>;

type Starting = Omit<StartingCall, 'name'>;

/** `snapshot`: of the run that executes the call. */
export function createCallStarts(parts: Parts, signals: RunSignals, call: Starting, snapshot: Snapshot): CallStarts {
  const { workerId } = snapshot;
  return {
    enqueue: (name, asked, hasResult) =>
      whileOpen(signals, hasResult, async () => {
        const command = enqueueFromCall(parts, parts.peers, { ...call, workerId, name }, asked);
        return toStarted(await performStart(parts, command));
      }),
    spawn: (name, asked, hasResult) =>
      whileOpen(signals, hasResult, () => spawn(parts, snapshot, { ...call, name }, asked)),
  };
}

/** Role, tools and model of the child are read before the transaction, which must not wait for other connections. */
async function spawn(
  parts: Parts,
  { workerId, allow, serving }: Snapshot,
  call: StartingCall,
  asked: AskedWorker,
): Promise<Started | Refusal> {
  const { database, abilities } = parts;
  const { team } = abilities;
  const { tenantId } = call;
  const before = await startedBefore(database.db, call);
  if (before !== null) return { kind: 'done', ...before };
  const parent = await readParent(database.db, tenantId, workerId, { jobId: call.jobId, countsTenant: false });
  if (parent === null) return refuse('not_found', 'This worker is being deleted.');
  if (serving.kind !== 'served') return refuse('unavailable', 'This process no longer serves the worker of this call.');
  const limits = treeLimitsOf(team, parent);
  const spec = await childWorkerSpec(
    { abilities, roles: roleLookup(parts, tenantId) },
    { allow, settings: serving.settings, parent, limits },
    asked,
  );
  if (spec.kind === 'refused') return refuse(spec.code, `No worker was created. ${spec.message}`);
  const { role, config } = spec;
  const trees = { limits, tenantWorkers: team.tenantWorkers };
  const child = { parentId: workerId, role, config, trees, tenantLimits: team.tenantLimits };
  return toStarted(await performStart(parts, spawnFromCall(parts, call, child, asked)));
}

function toStarted(outcome: Outcome<Json>): Started | Refusal {
  return outcome.kind === 'refused' ? outcome : { kind: 'done', value: outcome.value };
}
