// A tool that is asked for the outcome of one of its calls.
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineTool } from '../../src/index.ts';
import { call, runnerOf } from './invoke.ts';

const never = new AbortController().signal;

/** A tool that returns `report` for a call. */
function reporting(report: (call: object) => unknown) {
  const tool = {
    name: 'pay',
    description: 'Pays.',
    effect: 'once',
    on_unknown: 'ask',
    input: z.object({ cents: z.number(), currency: z.string().default('EUR') }),
    execute: () => 'paid',
    reconcile: report,
  };
  return tool as unknown as Parameters<typeof runnerOf>[0][number];
}

test('it gets the arguments of the call, with the same key', async () => {
  const asked: unknown[] = [];
  const runner = runnerOf([reporting((of) => (asked.push(of), { outcome: 'did_not_happen' }))]);
  const of = call('pay', { cents: 5 });
  expect(await runner.reconcile(of, never)).toEqual({ kind: 'did_not_happen' });
  expect(asked).toEqual([
    {
      input: { cents: 5, currency: 'EUR' },
      signal: expect.any(AbortSignal),
      idempotency_key: of.idempotencyKey,
      traceparent: of.traceParent,
      tenant: of.tenantName,
      metadata: {},
      user: null,
      worker: { id: of.workerId, name: 'w', role: null },
      attempt: 1,
      tool_call_id: of.id,
      job_id: of.jobId,
      worker_id: of.workerId,
      context_id: of.contextId,
    },
  ]);
});

test('its result is one like any other: text, blocks, an error', async () => {
  const result = { content: 'declined', is_error: true };
  expect(
    await runnerOf([reporting(() => ({ outcome: 'happened', result }))]).reconcile(call('pay', { cents: 5 }), never),
  ).toEqual({
    kind: 'happened',
    result: { kind: 'result', ...result },
  });
});

test('typed by the tool’s own schema', () => {
  const tool = defineTool({
    name: 'pay',
    description: 'Pays.',
    effect: 'once',
    input: z.object({ cents: z.number() }),
    execute: ({ cents }) => `paid ${cents}`,
    reconcile: ({ input, idempotency_key: key }) =>
      input.cents > 0 ? { outcome: 'happened', result: key } : { outcome: 'unknown' },
  });
  expect(runnerOf([tool]).outcomeWaitMs).toBeNull();
});

/** It cannot be written as text. */
const digger = {
  get deep() {
    throw new Error('no');
  },
};

describe('the outcome stays unknown, and the log reports it,', () => {
  test.each<[string, (call: object) => unknown]>([
    [
      'where it throws',
      () => {
        throw new Error('no');
      },
    ],
    ['where it rejects', () => Promise.reject(new Error('no'))],
    ['where it hangs', () => new Promise(() => undefined)],
    ['where it says nothing', () => undefined],
    ['where it says nonsense', () => ({ outcome: 'maybe' })],
    ['where what happened has no result', () => ({ outcome: 'happened' })],
    ['where its result cannot be written', () => ({ outcome: 'happened', result: digger })],
  ])('%s', async (_, report) => {
    const warned: string[] = [];
    const runner = runnerOf([reporting(report)], {
      limits: { toolResult: 100, toolTimeoutMs: 20 },
      log: { warn: (_fields, text) => void warned.push(text), debug: () => undefined },
    });
    expect(await runner.reconcile(call('pay', { cents: 5 }), never)).toEqual({ kind: 'unknown' });
    expect(warned).toHaveLength(1);
  });
});

test('the outcome is unknown without a log line where the tool cannot tell: no such tool, no function for it, another input', async () => {
  const runner = runnerOf([
    reporting(() => ({ outcome: 'unknown' })),
    { ...reporting(() => null), name: 'mute', reconcile: undefined } as never,
  ]);
  for (const one of [
    call('gone', {}),
    call('mute', { cents: 5 }),
    call('pay', { cents: 'x' }),
    call('pay', { cents: 5 }),
  ])
    expect(await runner.reconcile(one, never)).toEqual({ kind: 'unknown' });
});

test('an abort ends it at once', async () => {
  const aborting = new AbortController();
  const runner = runnerOf([reporting(() => new Promise(() => undefined))]);
  const report = runner.reconcile(call('pay', { cents: 5 }), aborting.signal);
  aborting.abort();
  expect(await report).toEqual({ kind: 'aborted' });
  expect(await runner.reconcile(call('pay', { cents: 5 }), aborting.signal)).toEqual({ kind: 'aborted' });
});
