// A tool's own declaration of whether it needs approval.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Approval } from '../../src/core/run/policy.ts';
import type { User } from '../../src/core/access/user.ts';
import { defineTool, type ToolDefinition } from '../../src/index.ts';
import { call, resultOf, runnerOf } from './invoke.ts';

const base = { name: 'refund', description: 'd', effect: 'once' } as const;
const input = z.object({ amount: z.number(), currency: z.string().default('USD') });
const execute = () => 'done';

const refund = (approval: unknown): ToolDefinition => ({ ...base, input, approval, execute }) as ToolDefinition;

function judged(approval: unknown, ruled: Approval | null = null, given: object = { amount: 5 }) {
  const lines: unknown[] = [];
  const log = { warn: (_: object, text: string) => void lines.push(text), debug: () => undefined };
  const runner = runnerOf([refund(approval)], { log });
  return { decision: runner.judge(call('refund', given as never), ruled), lines };
}

describe('a tool', () => {
  test.each<[Approval | undefined, Approval | null, Approval]>([
    [undefined, null, 'never'],
    ['always', null, 'always'],
    ['deny', null, 'deny'],
    ['always', 'never', 'always'],
    ['never', 'always', 'always'],
    ['deny', 'never', 'deny'],
    ['never', 'deny', 'deny'],
  ])('that declares %s, under a rule of %s: %s', async (own, ruled, expected) => {
    expect(await judged(own, ruled).decision).toBe(expected);
  });

  test('decides by the call, whose input is checked and has its defaults', async () => {
    const received: unknown[] = [];
    const tool = defineTool({
      ...base,
      input,
      approval: async (of) => {
        received.push(of);
        return of.input.amount > 100 ? 'always' : 'never';
      },
      execute,
    });
    const runner = runnerOf([tool]);
    const cheap = { ...call('refund', { amount: 5 }), tenantName: 'acme', user: 'ann' as User, metadata: { order: 7 } };
    expect(await runner.judge(cheap, null)).toBe('never');
    expect(await runner.judge(call('refund', { amount: 500 }), null)).toBe('always');
    expect(received[0]).toEqual({
      name: 'refund',
      input: { amount: 5, currency: 'USD' },
      tenant: 'acme',
      user: 'ann',
      metadata: { order: 7 },
      worker: { id: cheap.workerId, name: 'w', role: null },
      attempt: 1,
      tool_call_id: cheap.id,
      job_id: cheap.jobId,
      worker_id: cheap.workerId,
      context_id: cheap.contextId,
    });
  });

  test('whose predicate asks or denies does so whatever the rules; a rule makes it stricter', async () => {
    expect(await judged(() => 'deny', 'never').decision).toBe('deny');
    expect(await judged(() => 'deny', 'always').decision).toBe('deny');
    expect(await judged(() => 'always', 'never').decision).toBe('always');
    expect(await judged(() => 'always', 'deny').decision).toBe('deny');
    expect(await judged(() => 'never', 'always').decision).toBe('always');
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret'))],
    ['says nonsense', () => 'perhaps'],
    ['says nothing', () => undefined],
  ])('whose predicate %s needs approval, and the log reports it without contents', async (_, approval) => {
    const { decision, lines } = judged(approval);
    expect(await decision).toBe('always');
    expect(lines).toEqual([expect.stringMatching(/the call needs approval$/)]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  test('that does not accept the arguments needs no approval: its error is the answer', async () => {
    expect(await judged('always', null, { amount: 'much' }).decision).toBe('fails');
    expect(await judged(() => 'always', null, { amount: 'much' }).decision).toBe('fails');
    expect(await judged('never', 'always', { amount: 'much' }).decision).toBe('fails');
    expect(await judged('deny', null, { amount: 'much' }).decision).toBe('deny');
  });

  test('that accepts the arguments only after it was judged does not run: no person was asked', async () => {
    let isKnown = false;
    const ran: number[] = [];
    const tool = defineTool({
      ...base,
      input: z.object({ amount: z.number() }).refine(() => isKnown, 'there is no such order'),
      approval: 'always',
      execute: ({ amount }) => {
        ran.push(amount);
        return 'done';
      },
    });
    const runner = runnerOf([tool]);
    const of = call('refund', { amount: 5 });
    expect(await runner.judge(of, null)).toBe('fails');
    isKnown = true;
    const { content, is_error: isError } = await resultOf(runner, { ...of, mustFail: true });
    expect([content, isError]).toEqual([expect.stringContaining('Call it again.'), true]);
    expect(ran).toEqual([]);
    expect(await runner.judge(of, null)).toBe('always');
  });

  test('whose validation throws needs approval: it may succeed when the call runs', async () => {
    for (const approval of ['always', () => 'never'] as const) {
      const lines: unknown[] = [];
      const broken = z.object({ amount: z.number() }).refine(() => {
        throw new Error('secret');
      });
      const tool = { ...base, input: broken, approval, execute } as ToolDefinition;
      const log = { warn: (_: object, text: string) => void lines.push(text), debug: () => undefined };
      const runner = runnerOf([tool], { log });
      expect(await runner.judge(call('refund', { amount: 5 }), 'never')).toBe('always');
      expect(lines).toEqual(['the validation of a tool failed; the call needs approval']);
    }
  });

  test('that is unknown here follows the rules alone', async () => {
    const runner = runnerOf([]);
    expect(await runner.judge(call('locate', {}), 'always')).toBe('always');
    expect(await runner.judge(call('locate', {}), 'deny')).toBe('deny');
    for (const ruled of ['never', null] as const) expect(await runner.judge(call('locate', {}), ruled)).toBe('fails');
  });
});

describe('whether a tool may ask', () => {
  test.each([
    ['never', false],
    ['always', true],
    ['deny', true],
    [() => 'never', true],
  ])('with approval %s: %s', (approval, asks) => {
    expect(runnerOf([refund(approval)]).mayAsk(call('refund', { amount: 5 }))).toBe(asks);
  });

  test('is true of one that this process does not have', () => {
    expect(runnerOf([refund('never')]).mayAsk(call('other', {}))).toBe(true);
  });
});
