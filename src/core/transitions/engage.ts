/**
 * A worker's calls that concern other workers: creates children, lets calls wait for jobs, and closes calls that are
 * answered at once.
 */
import type { Append, CallChange, Entry } from '../run/append.ts';
import type { Ids } from '../ids.ts';
import type { ActiveJob } from '../run/job.ts';
import type { Snapshot } from '../run/snapshot.ts';
import type { Arrangement, AwaitedJob, CallResult, Spawn } from '../workers/spawn.ts';
import type { OpenCall, Wait } from '../tools/tool-call.ts';
import { blank, event, stateChange } from './base.ts';
import { closing, ended, resultEntries, stateOf, type ClosedCall } from './tools.ts';

/**
 * All or nothing: a child is created in the same commit as its event. Guarded: nothing starts if a stop request is on
 * its way.
 */
export function engage(snapshot: Snapshot, job: ActiveJob, arranged: readonly Arrangement[], ids: Ids): Append {
  const closed = arranged.flatMap(closedAtOnce);
  const waits = arranged.flatMap(waitOf);
  const to = stateOf(snapshot.calls.flatMap((call) => left(call, closed, waits)));
  return {
    ...blank(snapshot),
    guard: { controlSeq: snapshot.controlSeq, wakeSeq: null },
    entries: [
      ...arranged.flatMap(spawnEntry),
      ...resultEntries(job, closed, ids),
      ...stateChange(snapshot.state, to, job.id),
    ],
    calls: [...waits, ...closed.map(closing)],
    spawns: arranged.flatMap((one) => (one.kind === 'spawned' ? [one.spawn] : [])),
    awaits: arranged.flatMap(awaitsOf),
    state: to,
  };
}

type WaitChange = Extract<CallChange, { kind: 'wait' }>;

function waitOf(arranged: Arrangement): WaitChange[] {
  switch (arranged.kind) {
    case 'spawned':
      if (!arranged.spawn.awaited) return [];
      return [{ kind: 'wait', id: arranged.call.id, wait: { for: 'workers', until: null, needs: 1 } }];
    case 'awaits': {
      const wait: Wait = { for: 'workers', until: arranged.until, needs: arranged.needs };
      return [{ kind: 'wait', id: arranged.call.id, wait }];
    }
    case 'answered':
      return [];
  }
}

function awaitsOf(arranged: Arrangement): AwaitedJob[] {
  switch (arranged.kind) {
    case 'spawned': {
      const { awaited, callId, jobId, workerId } = arranged.spawn;
      return awaited ? [{ callId, jobId, workerId, ordinal: 0 }] : [];
    }
    case 'awaits':
      return arranged.jobs;
    case 'answered':
      return [];
  }
}

function closedAtOnce(arranged: Arrangement): ClosedCall[] {
  switch (arranged.kind) {
    case 'spawned':
      return arranged.spawn.awaited ? [] : [ended(arranged.call, begun(arranged.spawn))];
    case 'awaits':
      return [];
    case 'answered':
      return [ended(arranged.call, arranged.result)];
  }
}

/** The result for a call that creates a child without waiting for it. */
function begun({ workerId, jobId }: Spawn): CallResult {
  const content = JSON.stringify({ worker_id: workerId, job_id: jobId, status: 'queued', output: null });
  return { kind: 'result', content, is_error: false };
}

function spawnEntry(arranged: Arrangement): Entry[] {
  if (arranged.kind !== 'spawned') return [];
  const { callId, workerId, jobId, name } = arranged.spawn;
  const data = { tool_call_id: callId, name, worker_id: workerId, job_id: jobId };
  return [event({ name: 'WorkerSpawned', data })];
}

/** The call after this append; empty: it is closed. */
function left(call: OpenCall, closed: readonly ClosedCall[], waits: readonly WaitChange[]) {
  if (closed.some((one) => one.call.id === call.id)) return [];
  const change = waits.find(({ id }) => id === call.id);
  return [change === undefined ? call : { status: 'waiting' as const, wait: change.wait }];
}
