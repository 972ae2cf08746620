// A job as the rows of its timeline.
import { expect, test } from 'vitest';
import type { Job, JobStep } from '../../src/client/index.ts';
import { rowsOf } from '../../web/src/pages/timeline/rows.ts';

const at = (ms: number): string => new Date(ms).toISOString();
const usage = {
  input_tokens: 1,
  output_tokens: 1,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cache_hit_ratio: 0,
  cost: null,
};

function job(started: number | null, changed: Partial<Job> = {}): Job {
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

function call(from: number): JobStep {
  return {
    kind: 'model',
    name: 'simulated/test',
    status: 'completed',
    attempt: 1,
    n: 1,
    prefix_lost_at: null,
    started_at: at(from),
    first_token_at: at(from + 10),
    ended_at: at(from + 20),
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
  };
}

const queueOf = (started: number | null, steps: JobStep[]) => rowsOf(job(started), steps)[0];

test('a queue ends where the job is started, or where a model is called before that is stored', () => {
  expect(queueOf(1_030, [call(1_040)])).toMatchObject({ kind: 'queue', from: 1_000, to: 1_030 });
  expect(queueOf(1_030, [call(1_020)])).toMatchObject({ kind: 'queue', to: 1_020 });
  expect(queueOf(null, [])).toMatchObject({ kind: 'queue', status: 'queued', to: null });
});

test('a job is delayed until it joins the queue; one that ended before was never queued', () => {
  const rowOf = (started: number | null, changed: Partial<Job>) =>
    rowsOf(job(started, { starts_at: at(5_000), ...changed }), [])[0];
  expect(rowOf(null, { status: 'delayed' })).toMatchObject({
    name: 'Delay',
    status: 'delayed',
    from: 1_000,
    to: null,
    stretches: [{ kind: 'delay', from: 1_000, to: null }],
  });
  expect(rowOf(null, { status: 'cancelled', finished_at: at(3_000) })).toMatchObject({
    name: 'Delay',
    stretches: [{ kind: 'delay', from: 1_000, to: 3_000 }],
  });
  expect(rowOf(null, {})).toMatchObject({ name: 'Queue', stretches: [{ kind: 'queue', from: 5_000, to: null }] });
  expect(rowOf(null, { status: 'cancelled', finished_at: at(6_000) })).toMatchObject({
    name: 'Queue',
    stretches: [{ kind: 'queue', from: 5_000, to: 6_000 }],
  });
  expect(rowOf(5_040, {})).toMatchObject({ name: 'Queue', stretches: [{ kind: 'queue', from: 5_000, to: 5_040 }] });
});
