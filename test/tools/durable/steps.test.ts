// `context.step`: results are stored under their names, and a further execution of the call does not run them again.
import { expect, expectTypeOf, test } from 'vitest';
import type { CallSteps, HasResult, StoredStep } from '../../../src/core/tools/steps.ts';
import type { Effect, ToolInvocation } from '../../../src/core/tools/tool.ts';
import { ToolError, type RunStep, type StepContext, type ToolContext, type ToolReturn } from '../../../src/index.ts';
import { NO_SERVICES, call, resultOf, runnerOf, stepsIn } from '../invoke.ts';

type Execute = (context: ToolContext) => ToolReturn | Promise<ToolReturn>;

/** Executions of one call of a tool, with the steps that they store. */
function callOf(execute: Execute, effect: Effect = 'idempotent', timeoutMs = 60_000) {
  const stored = new Map<string, StoredStep>();
  const invocation = call('work', {});
  const tool = {
    name: 'work',
    description: 'd',
    effect,
    timeout_ms: timeoutMs,
    input_schema: { type: 'object' },
    execute: (_: unknown, context: ToolContext) => execute(context),
  };
  const runner = runnerOf([tool]);
  const run = (steps: CallSteps = stepsIn(stored), of: ToolInvocation = invocation) => resultOf(runner, of, { steps });
  return { run, stored, runner, invocation };
}

/** The result as JSON. */
function parsed({ content }: { content: unknown }): unknown {
  return typeof content === 'string' ? JSON.parse(content) : expect.fail();
}

/** The code of the `ToolError` that a promise rejects with. */
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: unknown) => (error instanceof ToolError ? (error.code ?? 'no code') : String(error)),
  );

test('a stored result is returned, and the function does not run again', async () => {
  const ran: string[] = [];
  let dies = true;
  const of = callOf(async ({ step }) => {
    const a = await step('a', () => (ran.push('a'), { n: 1, at: new Date(0) }));
    const b = await step('b', () => (ran.push('b'), [a.n, null]));
    if (dies) throw new Error('the process died');
    return { a, b, c: await step('c', () => void ran.push('c')) };
  });
  expect(await of.run()).toMatchObject({ is_error: true });
  dies = false;
  const result = await of.run();
  expect(ran).toEqual(['a', 'b', 'c']);
  expect(parsed(result)).toEqual({
    a: { n: 1, at: '1970-01-01T00:00:00.000Z' },
    b: [1, null],
    c: null,
  });
  expect(await of.run()).toEqual(result);
  expect(ran).toHaveLength(3);
});

test('the first execution gets the same value as later ones: what JSON keeps', async () => {
  const of = callOf(async ({ step }) => {
    const value = await step('a', () => ({ at: new Date(0), gone: undefined, nan: NaN, text: 'a\0\ud800' }));
    return { value, keys: Object.keys(value) };
  });
  const first = await of.run();
  expect(parsed(first)).toEqual({
    value: { at: '1970-01-01T00:00:00.000Z', nan: null, text: 'a\0\ud800' },
    keys: ['at', 'nan', 'text'],
  });
  expect(await of.run()).toEqual(first);
});

test('a step has a key of its own, which is the same at every execution', async () => {
  const keys: Record<string, string>[] = [];
  const of = callOf(async ({ step }) => {
    const seen: Record<string, string> = {};
    for (const name of ['a', 'b']) await step(name, ({ idempotency_key }) => void (seen[name] = idempotency_key));
    keys.push(seen);
    return '';
  });
  await of.run(stepsIn(new Map()));
  await of.run(stepsIn(new Map()));
  await of.run(stepsIn(new Map()), call('work', {}));
  const [first, again, other] = keys;
  expect(first?.['a']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(again).toEqual(first);
  expect(new Set([...Object.values(first ?? {}), ...Object.values(other ?? {})]).size).toBe(4);
});

test('an error is thrown and not stored, and the step may be tried again under its name', async () => {
  let tries = 0;
  const of = callOf(async ({ step }) => {
    for (;;) {
      const done = await step('charge', () => {
        tries += 1;
        if (tries < 3) throw new Error(`busy ${tries}`);
        return tries;
      }).catch((error: unknown) => String(error));
      if (typeof done === 'number') return done;
    }
  });
  expect(await of.run()).toMatchObject({ content: '3', is_error: false });
  expect([...of.stored]).toEqual([['charge', { value: 3, bytes: 1 }]]);
});

test('steps may run at the same time, and read what is stored once', async () => {
  let loads = 0;
  const stored = new Map<string, StoredStep>();
  const steps = stepsIn(stored);
  const of = callOf(async ({ step }) => Promise.all(['a', 'b', 'c'].map((name) => step(name, async () => name))));
  const counting = { ...steps, load: (hasResult: HasResult) => ((loads += 1), steps.load(hasResult)) };
  expect(await of.run(counting)).toMatchObject({ content: '["a","b","c"]' });
  expect(loads).toBe(1);
  expect([...stored.keys()].sort()).toEqual(['a', 'b', 'c']);
});

test.each<[string, (step: RunStep) => Promise<unknown>]>([
  ['step_name_invalid', (step) => step('', () => 1)],
  ['step_name_invalid', (step) => step('x'.repeat(101), () => 1)],
  ['step_name_invalid', (step) => step('a\nb', () => 1)],
  ['step_name_invalid', (step) => step('\ud800', () => 1)],
  ['step_name_used', (step) => Promise.all([step('a', () => 1), step('a', () => 2)])],
  ['step_result_invalid', (step) => step('a', () => 1n)],
  ['step_result_invalid', (step) => step('a', () => () => 1)],
  ['step_result_invalid', (step) => step('a', () => JSON.parse(`${'['.repeat(101)}${']'.repeat(101)}`))],
  ['step_result_too_large', (step) => step('a', () => 'x'.repeat(1024 * 1024))],
  // It is not parsed.
  [
    'step_result_too_large',
    (step) => step('a', () => JSON.parse(`${'['.repeat(101)}"${'x'.repeat(1024 * 1024)}"${']'.repeat(101)}`)),
  ],
])('%s', async (code, use) => {
  let got = '';
  const of = callOf(async ({ step }) => (got = await codeOf(use(step))));
  await of.run();
  expect(got).toBe(code);
  expect([...of.stored.values()].filter(({ value }) => value !== 1)).toEqual([]);
});

test('what a call stores is bounded, with the steps of earlier executions', async () => {
  const big = 'x'.repeat(1024 * 1024 - 2);
  let got = '';
  const of = callOf(async ({ step, attempt }) => {
    for (let n = 1; n <= 4; n += 1) await step(`big ${n}`, () => big);
    return (got = await codeOf(step('one more', () => attempt)));
  });
  await of.run();
  expect(got).toBe('step_result_too_large');
  got = '';
  await of.run();
  expect(got).toBe('step_result_too_large');
});

test('a call may have 1,000 steps', async () => {
  let got = '';
  const of = callOf(async ({ step }) => {
    for (let n = 1; n <= 1_000; n += 1) await step(`step ${n}`, () => n);
    return (got = await codeOf(step('step 1001', () => 0)));
  });
  await of.run();
  expect(got).toBe('too_many_steps');
  expect(of.stored.size).toBe(1_000);
});

test('a tool without effect has no steps, since its calls may begin before they are stored', async () => {
  let ran = false;
  const of = callOf(({ step }) => step('a', () => (ran = true)), 'none');
  expect(await of.run()).toMatchObject({
    content: expect.stringMatching(/"code":"step_not_allowed".*idempotent or once/),
    is_error: true,
  });
  expect(ran).toBe(false);
});

test('where the store refuses, the call ends as aborted, and no other step begins', async () => {
  for (const refusing of ['load', 'store'] as const) {
    const seen: unknown[] = [];
    const of = callOf(async ({ step, signal }) => {
      await step('a', () => seen.push('a')).catch((error: unknown) => seen.push(error === signal.reason));
      await step('b', () => seen.push('b')).catch((error: unknown) => seen.push(error === signal.reason));
      return 'late';
    });
    const steps = { ...stepsIn(of.stored), [refusing]: async () => null };
    const outcome = await of.runner.execute(of.invocation, new AbortController().signal, { ...NO_SERVICES, steps });
    expect(outcome).toEqual({ kind: 'aborted' });
    await expect.poll(() => seen).toEqual(refusing === 'load' ? [true, true] : ['a', true, true]);
  }
});

test('after an abort no step begins, and one that has begun is stored', async () => {
  const controller = new AbortController();
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const seen: string[] = [];
  const nameOf = (error: unknown): void => void seen.push(error instanceof Error ? error.name : '?');
  const of = callOf(async ({ step }) => {
    await step('a', async () => (controller.abort(), ended)).catch(nameOf);
    await step('b', () => seen.push('b')).catch(nameOf);
    return '';
  });
  const services = { ...NO_SERVICES, steps: stepsIn(of.stored) };
  const outcome = await of.runner.execute(of.invocation, controller.signal, services);
  expect(outcome).toEqual({ kind: 'aborted' });
  end();
  await expect.poll(() => seen).toEqual(['AbortError', 'AbortError']);
  expect([...of.stored.keys()]).toEqual(['a']);
});

test('after a timeout no step begins and none is stored', async () => {
  const ended = Promise.withResolvers<void>();
  const seen: string[] = [];
  const nameOf = (error: unknown): void => void seen.push(error instanceof Error ? error.name : '?');
  const of = callOf(
    async ({ step }) => {
      await step('a', () => ended.promise).catch(nameOf);
      await step('b', () => seen.push('b')).catch(nameOf);
      return '';
    },
    'idempotent',
    10,
  );
  expect(await of.run()).toMatchObject({ content: expect.stringContaining('timed out'), is_error: true });
  ended.resolve();
  await expect.poll(() => seen).toEqual(['TimeoutError', 'TimeoutError']);
  expect(of.stored.size).toBe(0);
});

test('a step may be tried again after its stored results could not be read', async () => {
  let reads = 0;
  const of = callOf(async ({ step }) => {
    const failed = await step('a', () => 1).catch((error: unknown) => String(error));
    return [failed, await step('a', () => 2)];
  });
  const steps = stepsIn(of.stored);
  const failing = async (hasResult: HasResult) => {
    reads += 1;
    if (reads === 1) throw new Error('no disk');
    return steps.load(hasResult);
  };
  expect(parsed(await of.run({ ...steps, load: failing }))).toEqual(['Error: no disk', 2]);
});

test('a step that is not awaited and outlives its call is not stored, and ends no process', async () => {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  let code: Promise<string> = Promise.resolve('');
  const of = callOf(({ step }) => {
    void step('left alone', () => ended);
    code = codeOf(step('late', () => ended));
    return 'done';
  });
  expect(await of.run()).toMatchObject({ content: 'done' });
  end();
  expect(await code).toBe('call_ended');
  expect(of.stored.size).toBe(0);
});

test('the types tell what JSON keeps', () => {
  const typed = async (step: RunStep) => {
    expectTypeOf(await step('a', () => 1)).toEqualTypeOf<number>();
    expectTypeOf(await step('a', async () => ({ at: new Date(), n: 1n, list: [{ a: 'x' }] }))).toEqualTypeOf<{
      at: string;
      n: never;
      list: { a: string }[];
    }>();
    expectTypeOf(
      await step('a', () => ({
        run: () => 1,
        list: [1, undefined],
        pair: ['x', () => 1] as const,
        of: new Map([[1, 2]]),
      })),
    ).toEqualTypeOf<{ list: (number | null)[]; pair: readonly ['x', null]; of: Record<string, never> }>();
    expectTypeOf(await step('a', (): { a?: number; set: Set<string> } => ({ set: new Set() }))).toEqualTypeOf<{
      a?: number;
      set: Record<string, never>;
    }>();
    expectTypeOf(await step('a', () => undefined)).toEqualTypeOf<null>();
    expectTypeOf(await step('a', async ({ signal }: StepContext) => void signal.aborted)).toEqualTypeOf<null>();
  };
  expect(typed).toBeTypeOf('function');
});
