/** The durable steps of a call in PostgreSQL. If it is unavailable, they wait until the call ends. */
import type { RunSignals } from '../../../agent/run-signals.ts';
import { CallEnded } from '../../../commands/calls/started-step.ts';
import { LeaseLost } from '../../../core/errors.ts';
import type { CallSteps, HasResult } from '../../../core/tools/steps.ts';
import type { ToolInvocation } from '../../../core/tools/tool.ts';
import { loadSteps, storeStep, type RunningCall } from '../../../db/calls/tool-steps.ts';
import type { WorkerState } from '../../process/ports.ts';
import { persist } from '../journal.ts';

/** `lease`: as claimed. */
export function runningCall(
  { tenantId, contextId, jobId, id }: ToolInvocation,
  lease: Pick<RunningCall, 'owner' | 'epoch'>,
): RunningCall {
  return { tenantId, contextId, jobId, toolCallId: id, ...lease };
}

export function createCallSteps(
  { database }: Pick<WorkerState, 'database'>,
  signals: RunSignals,
  call: RunningCall,
): CallSteps {
  return {
    load: (hasResult) => whileOpen(signals, hasResult, () => loadSteps(database.db, call)),
    store: (step, hasResult) => whileOpen(signals, hasResult, () => storeStep(database.db, call, step)),
  };
}

/** Retries while the database is unavailable. Null: the call must not go on. */
export async function whileOpen<T>(
  signals: RunSignals,
  hasResult: HasResult,
  work: () => Promise<T | null>,
): Promise<T | null> {
  try {
    return await persist(signals, async () => (hasResult() ? null : work()));
  } catch (error) {
    if (error instanceof LeaseLost || error instanceof CallEnded) return null;
    throw error;
  }
}
