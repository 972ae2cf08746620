/**
 * What a command notifies and publishes after its commit. These actions can be lost if the process dies; sweeps and the
 * polling of stream hubs replace them.
 */
import {
  followUpsDue,
  jobNews,
  progressOf,
  throttleNews,
  controlSignalsTo,
  type ControlSignal,
  type JobNews,
  type Progress,
} from '../bus/bus.ts';
import type { ContextId, ProcessId } from '../core/ids.ts';
import type { LiftedThrottle } from '../core/run/throttle.ts';
import type { Place } from '../db/run/places.ts';
import type { LockedForControl, Withdrawn } from '../db/run/stop-requests.ts';
import type { WakeUp } from '../queue/wake-queue.ts';
import { wakeMet } from './jobs/wake-met.ts';
import type { CommandPorts } from './ports.ts';

export type AfterCommit =
  | { kind: 'wake_up'; wakeUp: WakeUp }
  | { kind: 'control_signal'; owner: ProcessId; signal: ControlSignal }
  | { kind: 'progress'; progress: Progress }
  | { kind: 'job_end'; end: Omit<JobNews, 'status'> }
  /** A job ended, and its end requires follow-ups in other contexts. */
  | { kind: 'follow_up' }
  /** Contexts whose calls no longer wait for any worker. */
  | { kind: 'met'; contexts: ContextId[] }
  | { kind: 'throttle_lifted'; lifted: LiftedThrottle };

/** Dependencies to dispatch actions. */
export type DispatchPorts = Pick<CommandPorts, 'database' | 'wakeQueue' | 'bus'>;

export function dispatch(ports: DispatchPorts, afterCommit: readonly AfterCommit[]): void {
  const { wakeQueue, bus } = ports;
  for (const action of afterCommit) {
    switch (action.kind) {
      case 'wake_up':
        wakeQueue.notify(action.wakeUp);
        bus.changed.context(action.wakeUp.contextId);
        break;
      case 'control_signal':
        bus.publish(controlSignalsTo(action.owner), action.signal);
        break;
      case 'progress':
        bus.publish(progressOf(action.progress.contextId), action.progress);
        bus.changed.context(action.progress.contextId);
        break;
      case 'job_end':
        bus.publish(jobNews(), { ...action.end, status: 'ended' });
        bus.changed.context(action.end.contextId);
        break;
      case 'follow_up':
        bus.publish(followUpsDue(), {});
        break;
      case 'met':
        wakeMet(ports, action.contexts);
        break;
      case 'throttle_lifted':
        bus.publish(throttleNews(), { active: [], lifted: [action.lifted] });
        break;
    }
  }
}

/** After a write to a context: a wake-up, if the context is due and no process runs it. */
export function wakeUpIfRunnable(
  contextId: ContextId,
  { wakeSeq, epoch, runnable }: Omit<WakeUp, 'contextId'> & { runnable: boolean },
): AfterCommit[] {
  return runnable ? [{ kind: 'wake_up', wakeUp: { contextId, wakeSeq, epoch } }] : [];
}

/** After a write that numbered events up to `headSeq`, and ended no job. */
export function progressTo(contextId: ContextId, headSeq: number): AfterCommit {
  return { kind: 'progress', progress: { contextId, headSeq } };
}

/** To the process that holds the lease of a context, if one does. */
export function signalTo(contextId: ContextId, { owner, controlSeq }: LockedForControl): AfterCommit[] {
  return owner === null ? [] : [{ kind: 'control_signal', owner, signal: { contextId, controlSeq } }];
}

/** Actions after the end of a job that other contexts waited for. */
export function wakeMetContexts(contexts: ContextId[]): AfterCommit[] {
  return contexts.length === 0 ? [] : [{ kind: 'met', contexts }];
}

/** Actions after queued jobs were withdrawn. */
export function withdrawnActions(
  { tenantId, contextId }: Place,
  { headSeq, jobIds, met, followUp }: Withdrawn,
): AfterCommit[] {
  const ends = jobIds.map((jobId): AfterCommit => ({ kind: 'job_end', end: { tenantId, contextId, jobId, headSeq } }));
  return [...ends, ...wakeMetContexts(met), ...(followUp ? [{ kind: 'follow_up' } as const] : [])];
}
