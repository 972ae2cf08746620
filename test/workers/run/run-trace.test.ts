import { expect, test } from 'vitest';
import type { ModelOutcome } from '../../../src/core/model/model.ts';
import { unpriced } from '../../../src/core/money/usage.ts';
import { traceParentOfJob } from '../../../src/core/tracing/trace-parent.ts';
import { NO_TRACING } from '../../../src/core/tracing/tracing.ts';
import { blank } from '../../../src/core/transitions/base.ts';
import { RunTrace } from '../../../src/workers/run/run-trace.ts';
import { given, job as activeJob, snapshot } from '../../core/builders.ts';
import { placeOf, recording } from '../../telemetry/recording.ts';
import { NO_SERVICES, call, runnerOf } from '../../tools/invoke.ts';

const STORED = placeOf(99);
const SIGNAL = new AbortController().signal;
const SILENT = { started: () => undefined, text: () => undefined, thinking: () => undefined };
const REQUEST = {
  model: { provider: 'openai-chat', model: 'large' },
  system: 'a secret prompt',
  pinned: '',
  messages: [],
  tools: [],
  maxTokens: 100,
  streaming: true,
  outputSchema: null,
  parameters: {},
  cacheKey: 'k',
  failures: 0,
} as const;

async function callModel(trace: RunTrace, outcome: ModelOutcome): Promise<void> {
  const model = { isLoaded: () => true, call: async () => outcome };
  const access = trace.access(REQUEST.model, { kind: 'open', model });
  if (access?.kind !== 'open') throw new Error('no model');
  await access.model.call(REQUEST, SILENT, SIGNAL);
}

test('a run is below the stored place of its job, and its calls are below the run', async () => {
  const { tracing, spans } = recording();
  const trace = new RunTrace(tracing);
  const job = activeJob({ traceParent: STORED });
  trace.open(snapshot({ job }));
  trace.open(snapshot({ job }));
  const usage = unpriced({ input_tokens: 1, output_tokens: 5, cache_read_tokens: 20, cache_write_tokens: 300 });
  const content = [{ type: 'text' as const, text: 'a secret answer' }];
  await callModel(trace, {
    kind: 'done',
    answer: given({ content, finishReason: 'stop', usage, modelId: 'large-2', responseId: 'r' }),
  });
  await callModel(trace, {
    kind: 'failed',
    failure: { class: 'overloaded', message: 'a secret message', retryAfterMs: null },
  });
  const runner = trace.tools({
    judge: async () => 'never',
    mayAsk: () => false,
    execute: async ({ traceParent }) => ({ kind: 'result', content: traceParent ?? 'none', is_error: true }),
    reconcile: async () => ({ kind: 'unknown' }),
    outcomeWaitMs: null,
  });
  const outcome = await runner.execute(call('shop__find', { secret: 1 }), SIGNAL, NO_SERVICES);
  expect(outcome).toMatchObject({ content: placeOf(4) });
  expect(trace.traceParentOf(job)).toBe(placeOf(1));
  trace.committed({
    ...blank(snapshot({ job })),
    job: { kind: 'settle', job, outcome: { status: 'completed', outputId: null } },
  });
  trace.end();
  expect(spans.map(({ name, start, failed, ends }) => ({ name, parent: start.parent, failed, ends }))).toEqual([
    { name: expect.stringMatching(/^invoke_agent /), parent: STORED, failed: null, ends: 1 },
    { name: 'chat large', parent: placeOf(1), failed: null, ends: 1 },
    { name: 'chat large', parent: placeOf(1), failed: 'overloaded', ends: 1 },
    { name: 'execute_tool shop__find', parent: placeOf(1), failed: 'tool_error', ends: 1 },
  ]);
  expect(spans[0]?.attributes).toMatchObject({ 'nightshift.job.status': 'completed' });
  expect(spans[1]?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'large',
    'gen_ai.request.max_tokens': 100,
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.response.model': 'large-2',
    'gen_ai.response.id': 'r',
    'gen_ai.usage.input_tokens': 321,
    'gen_ai.usage.output_tokens': 5,
    'gen_ai.usage.cache_read.input_tokens': 20,
    'gen_ai.usage.cache_creation.input_tokens': 300,
  });
  expect(spans[3]?.attributes).toMatchObject({ 'gen_ai.tool.type': 'extension', 'mcp.method.name': 'tools/call' });
  expect(JSON.stringify(spans)).not.toContain('secret');
});

test.each(['lease_lost', 'internal'] as const)('a run that breaks off (%s) has failed', (reason) => {
  const { tracing, spans } = recording();
  const trace = new RunTrace(tracing);
  trace.open(snapshot({ job: activeJob() }));
  trace.fail(reason);
  trace.end();
  expect(spans.map(({ failed, ends }) => [failed, ends])).toEqual([[reason, 1]]);
});

test('a job that is admitted has waited in the queue; a failed one says why', () => {
  const { tracing, spans } = recording();
  const trace = new RunTrace(tracing);
  const job = activeJob({ traceParent: null });
  trace.open(snapshot({ job: null }));
  trace.committed({ ...blank(snapshot({ job: null })), job: { kind: 'admit', job } });
  const error = { code: 'max_steps' as const, message: 'a secret message' };
  trace.committed({
    ...blank(snapshot({ job })),
    job: { kind: 'settle', job, outcome: { status: 'incomplete', error } },
  });
  const parents = spans.map(({ name, start }) => [name.split(' ')[0], start.parent, start.otherwise]);
  expect(parents).toEqual([
    ['invoke_agent', null, traceParentOfJob(job.id)],
    ['queued', null, traceParentOfJob(job.id)],
  ]);
  expect(spans.map(({ failed, ends }) => [failed, ends])).toEqual([
    ['max_steps', 1],
    [null, 1],
  ]);
  expect(JSON.stringify(spans)).not.toContain('secret');
});

test('without a tracer the place of the job is passed on', () => {
  const trace = new RunTrace(NO_TRACING);
  const job = activeJob({ traceParent: STORED });
  trace.open(snapshot({ job }));
  expect(trace.traceParentOf(job)).toBe(STORED);
});

test('without a tracer a job that no trace asked for is in none', async () => {
  const trace = new RunTrace(NO_TRACING);
  const job = activeJob({ traceParent: null });
  trace.open(snapshot({ job }));
  expect(trace.traceParentOf(job)).toBeNull();
  const places: (string | null)[] = [];
  const runner = trace.tools({
    ...runnerOf([]),
    execute: async ({ traceParent }) => (places.push(traceParent), { kind: 'aborted' }),
  });
  await runner.execute({ ...call('find', {}), jobId: job.id }, SIGNAL, NO_SERVICES);
  expect(places).toEqual([null]);
});
