/** Tool results that tell a worker about other workers. */
import { textOf } from '../../core/conversation/blocks.ts';
import type { CallResult } from '../../core/workers/spawn.ts';
import type { WorkerOutcome } from '../../db/run/team.ts';
import { codedText, type FaultCode } from '../../tools/run/tool-fault.ts';
import { truncate } from '../../tools/run/truncate.ts';

/** Characters reserved for the JSON around an output, and the least that an output gets. */
const AROUND = 300;
const LEAST = 100;

export function errorResult(code: FaultCode, message: string): CallResult {
  return { kind: 'result', content: codedText(code, message), is_error: true };
}

/** Result of a `spawn` call whose child has ended. It is an error unless the child's job completed. */
export function spawnResult(outcome: WorkerOutcome | undefined, limit: number): CallResult {
  if (outcome === undefined) return errorResult('worker_gone', 'The worker was deleted before its job ended.');
  const { worker_id, ...summary } = summaryOf(outcome, limit - AROUND);
  const content = JSON.stringify({ worker_id, job_id: outcome.jobId, ...summary });
  return { kind: 'result', content, is_error: outcome.status !== 'completed' };
}

/**
 * Result of a `wait` call. It is never an error, however the workers' jobs ended. `limit`: characters of the whole
 * result.
 */
export function waitResult(outcomes: readonly WorkerOutcome[], limit: number): CallResult {
  const each = Math.floor(limit / outcomes.length) - AROUND;
  const content = JSON.stringify(outcomes.map((outcome) => summaryOf(outcome, each)));
  return { kind: 'result', content, is_error: false };
}

function summaryOf({ workerId, jobId, status, error, output }: WorkerOutcome, limit: number) {
  const text = output === null ? null : truncate(textOf(output), Math.max(LEAST, limit));
  return {
    worker_id: workerId,
    // No status: the worker never had a job, or its job was removed with it.
    status: status ?? (jobId === null ? 'idle' : 'removed'),
    output: text,
    ...(error === null ? {} : { error: { code: error.code, message: error.message } }),
  };
}
