/**
 * A worker's calls that concern other workers: creates children, lets calls wait for jobs, and closes calls that are
 * answered at once.
 */
import type { Append, CallChange } from '../run/append.ts';
import type { ActiveJob } from '../run/job.ts';
import type { Snapshot } from '../run/snapshot.ts';
import type { Arrangement, AwaitedJob, CallResult, Spawn } from '../workers/spawn.ts';
import type { Millis } from '../time.ts';
import type { OpenCall } from '../tools/tool-call.ts';
import { blank, stateChange } from './base.ts';
import { closing, ended, resultEntries, stateOf, workerSpawned, type ClosedCall } from './tools.ts';

/**
 * All or nothing: a child is created in the same commit as its event. Guarded: nothing starts if a stop request is on
 * its way.
 */
export function engage(snapshot: Snapshot, job: ActiveJob, arranged: readonly Arrangement[]): Append {
  const parts = arranged.map(partsOf);
  const closed = parts.flatMap((one) => one.closed);
  const waits = parts.flatMap((one) => one.waits);
  const spawns = parts.flatMap((one) => one.spawns);
  const to = stateOf(snapshot.calls.flatMap((call) => left(call, closed, waits)));
  return {
    ...blank(snapshot),
    guard: { controlSeq: snapshot.controlSeq, wakeSeq: null },
    entries: [
      ...spawns.map((spawn) => workerSpawned(spawn.callId, spawn)),
      ...resultEntries(job, closed),
      ...stateChange(snapshot.state, to, job.id),
    ],
    calls: [...waits, ...closed.map(closing)],
    spawns,
    awaits: parts.flatMap((one) => one.awaits),
    state: to,
  };
}

type WaitChange = Extract<CallChange, { kind: 'wait' }>;

/** What one call brings about: it is closed, or it waits for jobs. */
type Parts = { spawns: Spawn[]; closed: ClosedCall[]; waits: WaitChange[]; awaits: AwaitedJob[] };

const NOTHING: Parts = { spawns: [], closed: [], waits: [], awaits: [] };

function partsOf(arranged: Arrangement): Parts {
  const { call } = arranged;
  switch (arranged.kind) {
    case 'spawned': {
      const { spawn } = arranged;
      const { awaited, callId, jobId, workerId } = spawn;
      if (!awaited) return { ...NOTHING, spawns: [spawn], closed: [ended(call, begun(spawn))] };
      const awaits = [{ callId, jobId, workerId, ordinal: 0 }];
      return { ...NOTHING, spawns: [spawn], waits: [waitChange(call, null, 1)], awaits };
    }
    case 'awaits':
      return { ...NOTHING, waits: [waitChange(call, arranged.until, arranged.needs)], awaits: arranged.jobs };
    case 'answered':
      return { ...NOTHING, closed: [ended(call, arranged.result)] };
  }
}

function waitChange({ id }: OpenCall, until: Millis | null, needs: number): WaitChange {
  return { kind: 'wait', id, wait: { for: 'workers', until, needs } };
}

/** The result for a call that creates a child without waiting for it. */
function begun({ workerId, jobId }: Spawn): CallResult {
  const content = JSON.stringify({ worker_id: workerId, job_id: jobId, status: 'queued', output: null });
  return { kind: 'result', content, is_error: false };
}

/** The call after this append; empty: it is closed. */
function left(call: OpenCall, closed: readonly ClosedCall[], waits: readonly WaitChange[]) {
  if (closed.some((one) => one.call.id === call.id)) return [];
  const change = waits.find(({ id }) => id === call.id);
  return [change === undefined ? call : { status: 'waiting' as const, wait: change.wait }];
}
