/**
 * The log and the metrics of a run. Every line has the ids of the run. Text of messages is never logged above debug
 * level.
 */
import type { RunLog } from '../../agent/run.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import type { WorkerState } from '../process/ports.ts';

export function createRunLog(
  { log, metrics }: Pick<WorkerState, 'log' | 'metrics'>,
  { lease, workerId }: Snapshot,
): RunLog {
  const bound = log.child({
    tenant: lease.tenantName,
    context_id: lease.contextId,
    worker_id: workerId,
    epoch: lease.epoch,
  });
  return {
    step(kind, facts) {
      bound.debug({ step: kind, ...facts }, 'step');
    },
    stepped: (kind, ms) => metrics.step(kind, ms),
    retry(jobId, code) {
      bound.debug({ job_id: jobId, code }, 'retrying a model call');
      metrics.retry(code);
    },
    prompt(jobId, messages) {
      if (!bound.isLevelEnabled('debug')) return;
      messages.forEach(({ role, content }, index) => {
        bound.debug({ job_id: jobId, index, role, length: JSON.stringify(content).length }, 'prompt');
      });
    },
  };
}
