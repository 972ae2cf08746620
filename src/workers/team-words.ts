/** What a worker is told of others, as the text of a tool's result. */
import { textOf } from '../core/blocks.ts';
import type { CallResult } from '../core/spawn.ts';
import type { WorkerOutcome } from '../db/team.ts';
import { codedText } from '../tools/tool-fault.ts';
import type { FaultCode } from '../tools/tool-fault.ts';
import { truncate } from '../tools/truncate.ts';

/** Characters of what stands around an output. */
const AROUND = 300;
const LEAST = 100;

export function errorResult(code: FaultCode, words: string): CallResult {
  return { kind: 'result', content: codedText(code, words), is_error: true };
}

/** The child of a call, that ended: only one that completed is no error. */
export function spawnResult(outcome: WorkerOutcome | undefined, limit: number): CallResult {
  if (outcome === undefined) return errorResult('worker_gone', 'The worker was removed before it was done.');
  const { worker_id, ...told } = wordsOf(outcome, limit - AROUND);
  const content = JSON.stringify({ worker_id, job_id: outcome.jobId, ...told });
  return { kind: 'result', content, is_error: outcome.status !== 'completed' };
}

/** However each of them ended: that they were waited for is no error. `limit`: characters of all of it. */
export function waitResult(outcomes: readonly WorkerOutcome[], limit: number): CallResult {
  const each = Math.floor(limit / outcomes.length) - AROUND;
  const content = JSON.stringify(outcomes.map((outcome) => wordsOf(outcome, each)));
  return { kind: 'result', content, is_error: false };
}

function wordsOf({ workerId, jobId, status, error, output }: WorkerOutcome, limit: number) {
  const text = output === null ? null : truncate(textOf(output), Math.max(LEAST, limit));
  return {
    worker_id: workerId,
    // Without a job: one that never had any, or whose job was removed with it.
    status: status ?? (jobId === null ? 'idle' : 'removed'),
    output: text,
    ...(error === null ? {} : { error: { code: error.code, message: error.message } }),
  };
}
