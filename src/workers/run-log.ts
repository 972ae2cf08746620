/** The log of a run: ids on every line, no text of messages above debug. */
import type { RunLog } from '../agent/run.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { WorkerState } from './ports.ts';

export function createRunLog({ log }: Pick<WorkerState, 'log'>, { lease, workerId }: Snapshot): RunLog {
  const bound = log.child({
    tenant: lease.tenantId,
    context_id: lease.contextId,
    worker_id: workerId,
    epoch: lease.epoch,
  });
  return {
    step(kind, facts) {
      bound.debug({ step: kind, ...facts }, 'step');
    },
    prompt(jobId, messages) {
      if (!bound.isLevelEnabled('debug')) return;
      messages.forEach(({ role, content }, index) => {
        bound.debug({ job_id: jobId, index, role, length: JSON.stringify(content).length }, 'prompt');
      });
    },
  };
}
