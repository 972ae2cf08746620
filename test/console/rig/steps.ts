// Jobs and steps as the API returns them.
import type { Job, JobStep } from '../../../src/client/index.ts';

export const at = (ms: number): string => new Date(ms).toISOString();

export const usage = {
  input_tokens: 1,
  output_tokens: 1,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cache_hit_ratio: 0,
  cost: null,
};

/** A job that was created at 1,000 and, unless `started` is null, runs. */
export function job(started: number | null, changed: Partial<Job> = {}): Job {
  return {
    id: 'j',
    kind: 'input',
    context_id: 'c',
    context_title: null,
    worker_id: 'w',
    worker_name: 'w',
    role: null,
    model: 'simulated/quick',
    branch: 'main',
    input: null,
    status: started === null ? 'queued' : 'running',
    attempt: 1,
    retry_at: null,
    starts_at: null,
    steps: 1,
    usage,
    waiting_for: [],
    output: null,
    error: null,
    parent_job_id: null,
    created_at: at(1_000),
    started_at: started === null ? null : at(started),
    finished_at: null,
    metadata: {},
    user: null,
    compaction: null,
    ...changed,
  };
}

/** A model call that was answered from 0 to 20. */
export function step(changed: Partial<JobStep>): JobStep {
  return {
    kind: 'model',
    name: 'simulated/test',
    status: 'completed',
    attempt: 1,
    n: 1,
    prefix_lost_at: null,
    started_at: at(0),
    first_token_at: at(10),
    ended_at: at(20),
    usage,
    error: null,
    reason: null,
    message_id: 'm',
    tool_call_id: null,
    tool_steps: null,
    executions: null,
    progress: null,
    log: null,
    tokens_before: null,
    tokens_after: null,
    approval: null,
    waits: [],
    child: null,
    ...changed,
  };
}
