import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { ToolError, defineTool, type ToolContext } from '../../src/index.ts';
import { faultyTool, type FaultyInput, type Run } from './faulty-tool.ts';
import { NO_SERVICES, call, resultOf, runnerOf } from './invoke.ts';
import type { User } from '../../src/core/access/user.ts';

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  effect: 'none',
  input: z.object({ a: z.number(), b: z.number().default(1) }),
  execute: ({ a, b }) => String(a + b),
});

const never = new AbortController().signal;

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});

afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

describe('a call of a model', () => {
  test('that is valid is answered', async () => {
    expect(await resultOf(runnerOf([add]), call('add', { a: 2 }))).toEqual({
      kind: 'result',
      content: '3',
      is_error: false,
    });
  });

  test('of an unknown tool is an error that names the known ones', async () => {
    const runner = runnerOf([faultyTool(), add]);
    expect(await resultOf(runner, call('ad"d', {}))).toMatchObject({
      content: 'No tool is named "ad\\"d". Available tools: add, faulty.',
      is_error: true,
    });
    expect((await resultOf(runner, call('x'.repeat(100_000), {}))).content.length).toBeLessThan(400);
    expect((await resultOf(runnerOf([]), call('add', {}))).content).toContain('No tools are available.');
    expect((await resultOf(runner, call('__proto__', {}))).is_error).toBe(true);
  });

  test('with bad arguments is an error that tells what to correct, and nothing runs', async () => {
    const runs: Run[] = [];
    const runner = runnerOf([add, faultyTool({ onRun: (run) => runs.push(run) })]);
    expect(await resultOf(runner, call('add', { a: 'two' }))).toMatchObject({
      content: expect.stringMatching(
        /^The tool add was not executed: its arguments do not match its input schema\.\n- \/a: .*expected number.*\nCorrect the arguments and call the tool again\.$/,
      ),
      is_error: true,
    });
    expect((await resultOf(runner, call('faulty', { sleep: 1 }))).content).toContain(
      '- the arguments must NOT have additional properties: "sleep" (schema: #/additionalProperties)',
    );
    expect(runs).toEqual([]);
  });

  test('with arguments that are not JSON is an error with the position', async () => {
    const runner = runnerOf([add]);
    expect((await resultOf(runner, call('add', '{"a": 2,}'))).content).toMatch(
      /\n- the arguments are not valid JSON: SyntaxError: .* position 8/,
    );
    expect((await resultOf(runner, call('add', '"a"'))).content).toContain('must be a JSON object');
    expect((await resultOf(runner, call('add', null))).is_error).toBe(true);
  });

  test('with arguments that are nested too deep is an error, however deep', async () => {
    const runner = runnerOf([add]);
    for (const depth of [101, 10_000, 1_000_000]) {
      const { content, is_error } = await resultOf(runner, call('add', `${'['.repeat(depth)}${']'.repeat(depth)}`));
      expect(is_error).toBe(true);
      expect(content).toContain('- the arguments are nested deeper than 100 levels');
    }
  });

  test('whose check throws is an error, not a crash', async () => {
    const broken = defineTool({
      ...add,
      input: z.object({
        a: z.number().refine(() => {
          throw new Error('the check broke');
        }),
      }),
      execute: () => 'never',
    });
    expect(await resultOf(runnerOf([broken]), call('add', { a: 1 }))).toMatchObject({
      content: expect.stringMatching(/^The tool add failed\. The operator finds the details in the log under /),
      is_error: true,
    });
  });

  test('whose tool changes its input changes no history', async () => {
    const input = { list: [1] };
    const greedy = {
      ...faultyTool({ name: 'greedy' }),
      input_schema: { type: 'object' },
      execute: (given: object) => JSON.stringify(Object.assign(given, { list: [] })),
    };
    expect((await resultOf(runnerOf([greedy]), call('greedy', input))).content).toBe('{"list":[]}');
    expect(input).toEqual({ list: [1] });
  });
});

const REFERENCE = 'The operator finds the details in the log under <id>.';

describe('a tool', () => {
  const runner = runnerOf([faultyTool()]);
  const run = (input: FaultyInput) => resultOf(runner, call('faulty', input));

  test.each<[string, FaultyInput, string, boolean]>([
    ['throws', { throws: 'sk-secret' }, `The tool faulty failed. ${REFERENCE}`, true],
    ['throws at once', { throws_at_once: 'sk-secret' }, `The tool faulty failed. ${REFERENCE}`, true],
    ['throws to be read', { throws_publicly: 'no such city' }, 'The tool faulty failed: no such city', true],
    [
      'throws with a code',
      { throws_publicly: 'no such city', code: 'no_city' },
      '{"error":{"code":"no_city","message":"no such city"}}',
      true,
    ],
    ['throws with an empty code', { throws_publicly: 'no', code: '' }, 'The tool faulty failed: no', true],
    ['gives nothing', { gives: 'nothing' }, '', false],
    ['gives null', { gives: 'null' }, 'null', false],
    ['gives a number', { gives: 'number' }, '42', false],
    ['gives a NUL', { gives: 'nul' }, 'before\0after', false],
    ['gives lone surrogates', { gives: 'lone_surrogates' }, '\ud800 and \udc00', false],
    ['gives a BigInt', { gives: 'bigint' }, '{"big":"1180591620717411303424"}', false],
    ['gives a cycle', { gives: 'cycle' }, '{"a":1,"self":"[circular]"}', false],
    [
      'gives what cannot be read',
      { gives: 'unreadable' },
      `The tool faulty returned a result that cannot be converted to text. ${REFERENCE}`,
      true,
    ],
    ['says that it failed', { gives: 'error_reply' }, 'it did not work', true],
  ])('%s', async (_, input, content, is_error) => {
    const invocation = call('faulty', input);
    const onRun = await resultOf(runner, invocation);
    expect({
      ...onRun,
      content: JSON.stringify(onRun.content).replaceAll(invocation.id, '<id>'),
    }).toMatchObject({
      content: JSON.stringify(content),
      is_error,
    });
  });

  test('throws an error of another copy of the package', async () => {
    const failing = (code: unknown) => ({
      ...faultyTool(),
      execute: () => {
        throw Object.assign(new Error('no such city'), { code, [Symbol.for('nightshift.tool_error')]: true });
      },
    });
    const read = async (code: unknown) => (await resultOf(runnerOf([failing(code)]), call('faulty', {}))).content;
    expect(await read('no_city')).toBe('{"error":{"code":"no_city","message":"no such city"}}');
    expect(await read(404)).toBe('The tool faulty failed: no such city');
  });

  test('throws a long message with a long code: both are cut', async () => {
    const { content } = await run({ throws_publicly: 'm'.repeat(5_000), code: 'c'.repeat(200) });
    expect(typeof content === 'string' && JSON.parse(content)).toEqual({
      error: {
        code: 'c'.repeat(100),
        message: expect.stringMatching(/^m{4000}\n\[Truncated: 1000 of 5000 characters were omitted\.\]$/),
      },
    });
  });

  test('throws to be read because of another error: only the log has that one', async () => {
    const log = { warn: vi.fn<Log>(), debug: vi.fn<Log>() };
    const cause = new Error('sk-secret');
    const execute = (): never => {
      throw new ToolError('the bank is closed', { code: 'closed', cause });
    };
    const invocation = call('faulty', {});
    const { content } = await resultOf(runnerOf([{ ...faultyTool(), execute }], { log }), invocation);
    expect(content).toBe('{"error":{"code":"closed","message":"the bank is closed"}}');
    expect(log.warn).not.toHaveBeenCalled();
    expect(log.debug.mock.calls).toEqual([
      [
        expect.objectContaining({ tool_call_id: invocation.id, err: expect.objectContaining({ cause }) }),
        expect.any(String),
      ],
    ]);
  });

  test('returns more than the limit', async () => {
    const { content } = await run({ characters: 200_001 });
    expect(content).toHaveLength(200_000 + '\n[Truncated: 1 of 200001 characters were omitted.]'.length);
    expect((await run({ characters: 200_000 })).content).toHaveLength(200_000);
  });

  test('nests deeper than the stack', async () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 200_000; depth++) deep = [deep];
    const digger = { ...faultyTool(), execute: () => deep as string };
    expect(await resultOf(runnerOf([digger]), call('faulty', {}))).toMatchObject({ is_error: true });
  });

  test('receives its call, and keeps its own this', async () => {
    let seen: ToolContext | undefined;
    const tool = {
      ...faultyTool(),
      execute(this: { description: string }, _: object, context: ToolContext) {
        seen = context;
        return this.description;
      },
    };
    const invocation = { ...call('faulty', {}), tenantName: 'acme', user: 'ann' as User, metadata: { order: 7 } };
    Object.assign(invocation, { workerName: 'ada', role: 'support', attempt: 3 });
    expect((await resultOf(runnerOf([tool]), invocation)).content).toBe(tool.description);
    expect(seen).toEqual({
      signal: expect.any(AbortSignal),
      idempotency_key: invocation.idempotencyKey,
      traceparent: invocation.traceParent,
      tenant: 'acme',
      user: 'ann',
      metadata: { order: 7 },
      worker: { id: invocation.workerId, name: 'ada', role: 'support' },
      attempt: 3,
      tool_call_id: invocation.id,
      job_id: invocation.jobId,
      worker_id: invocation.workerId,
      context_id: invocation.contextId,
      log: {
        debug: expect.any(Function),
        info: expect.any(Function),
        warn: expect.any(Function),
        error: expect.any(Function),
      },
      progress: expect.any(Function),
      step: expect.any(Function),
      spawn: expect.any(Function),
      enqueue: expect.any(Function),
    });
  });

  test('reports to its log, and its progress, until its call is over: then one warning is logged', async () => {
    const reports: unknown[][] = [];
    const report = {
      log: (...given: unknown[]) => void reports.push(['log', ...given]),
      progress: (...given: unknown[]) => void reports.push(['progress', ...given]),
    };
    const warnings: unknown[][] = [];
    const log = { debug: () => undefined, warn: (...given: unknown[]) => void warnings.push(given) };
    let late = (): void => {};
    const tool = {
      ...faultyTool(),
      execute(_: object, context: ToolContext) {
        const { progress } = context;
        const { debug, info, warn, error } = context.log;
        debug('a');
        info('b', { n: 1 });
        warn('c');
        error('d', new Error('e'));
        progress('half');
        progress({ done: 1, total: 2 });
        late = () => [progress, info, progress].forEach((say) => say('too late'));
        return 'done';
      },
    };
    const invocation = call('faulty', {});
    await resultOf(runnerOf([tool], { log }), invocation, { report });
    late();
    expect(reports).toEqual([
      ['log', 'debug', 'a', undefined],
      ['log', 'info', 'b', { n: 1 }],
      ['log', 'warn', 'c', undefined],
      ['log', 'error', 'd', new Error('e')],
      ['progress', 'half'],
      ['progress', { done: 1, total: 2 }],
    ]);
    expect(warnings).toEqual([
      [
        expect.objectContaining({ tool: 'faulty', tool_call_id: invocation.id }),
        'a tool reported after its call had ended; its reports are dropped',
      ],
    ]);
  });
});

describe('calls side by side', () => {
  test('run at the same time, and leave nothing on the signal they share', async () => {
    let running = 0;
    let most = 0;
    let release = (): void => {};
    const all = new Promise<void>((resolve) => (release = resolve));
    const tool = {
      ...faultyTool(),
      async execute() {
        most = Math.max(most, ++running);
        if (running === 50) release();
        await all;
        return 'done';
      },
    };
    const warned = vi.fn<(warning: Error) => void>();
    process.on('warning', warned);
    const { signal } = new AbortController();
    const runner = runnerOf([tool]);
    const calls = Array.from({ length: 50 }, () => runner.execute(call('faulty', {}), signal, NO_SERVICES));
    expect(getEventListeners(signal, 'abort')).toHaveLength(50);
    expect(await Promise.all(calls)).toHaveLength(50);
    process.off('warning', warned);
    expect([most, getEventListeners(signal, 'abort'), warned.mock.calls]).toEqual([50, [], []]);
  });
});

describe('a call that takes too long', () => {
  test('is an error, and the tool is aborted', async () => {
    let reason: unknown;
    const tool = {
      ...faultyTool({ timeout_ms: 20 }),
      async execute(_: object, { signal }: ToolContext): Promise<string> {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        reason = signal.reason;
        return 'too late';
      },
    };
    expect(await resultOf(runnerOf([tool]), call('faulty', {}))).toEqual({
      kind: 'result',
      content: 'The tool faulty timed out after 0.02 s.',
      is_error: true,
      code: 'timed_out',
    });
    expect(reason).toMatchObject({ name: 'TimeoutError' });
  });

  test('does not wait for a tool that ignores its abort, and survives its late error', async () => {
    let fail: ((error: Error) => void) | undefined;
    const deaf = { ...faultyTool(), execute: () => new Promise<string>((_, reject) => (fail = reject)) };
    const runner = runnerOf([deaf], { limits: { toolResult: 100, toolTimeoutMs: 5 } });
    expect(await resultOf(runner, call('faulty', {}))).toMatchObject({ is_error: true });
    fail?.(new Error('late'));
  });

  test('reports that a once-only call may have happened', async () => {
    const runner = runnerOf([faultyTool({ effect: 'once', timeout_ms: 1 })]);
    expect((await resultOf(runner, call('faulty', { hang: true }))).content).toContain(
      'It may have taken effect. Check before repeating it.',
    );
  });

  test('a time-out longer than the maximum of a timer does not fire at once', async () => {
    const runner = runnerOf([faultyTool()], { limits: { toolResult: 100, toolTimeoutMs: Infinity } });
    expect((await resultOf(runner, call('faulty', { sleep_ms: 20 }))).content).toBe('done');
  });
});

describe('a call that is aborted', () => {
  test('before it began does not begin', async () => {
    const runs: Run[] = [];
    const runner = runnerOf([faultyTool({ onRun: (run) => runs.push(run) })]);
    expect(await runner.execute(call('faulty', {}), AbortSignal.abort(), NO_SERVICES)).toEqual({ kind: 'aborted' });
    expect(runs).toEqual([]);
  });

  test('while its arguments are checked does not begin', async () => {
    const runs: Run[] = [];
    const controller = new AbortController();
    const runner = runnerOf([faultyTool({ onRun: (run) => runs.push(run) })]);
    const outcome = runner.execute(call('faulty', {}), controller.signal, NO_SERVICES);
    controller.abort();
    expect(await outcome).toEqual({ kind: 'aborted' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(runs).toEqual([]);
  });

  test.each<[string, FaultyInput]>([
    ['a tool that listens', { sleep_ms: 60_000 }],
    ['a tool that does not', { hang: true }],
    ['a tool that fails late', { sleep_ms: 20, ignore_abort: true, throws: 'late' }],
  ])('ends at once: %s', async (_, input) => {
    const ends: Run[] = [];
    let begun = (): void => {};
    const running = new Promise<void>((resolve) => (begun = resolve));
    const tool = faultyTool({ onRun: (run) => (run.at === 'begin' ? begun() : ends.push(run)) });
    const controller = new AbortController();
    const outcome = runnerOf([tool]).execute(call('faulty', input), controller.signal, NO_SERVICES);
    await running;
    controller.abort(new Error('cancelled'));
    expect(await outcome).toEqual({ kind: 'aborted' });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    if (input.ignore_abort === true) await vi.waitUntil(() => ends.length === 1, { timeout: 60_000 });
  });

  test('gives the tool the reason', async () => {
    let reason: unknown;
    const controller = new AbortController();
    const tool = {
      ...faultyTool(),
      execute: (_: object, { signal }: ToolContext) =>
        new Promise<string>(() => {
          signal.addEventListener('abort', () => (reason = signal.reason));
          controller.abort('because');
        }),
    };
    expect(await runnerOf([tool]).execute(call('faulty', {}), controller.signal, NO_SERVICES)).toEqual({
      kind: 'aborted',
    });
    expect(reason).toBe('because');
  });

  test('after its end keeps its result', async () => {
    const controller = new AbortController();
    const outcome = await runnerOf([add]).execute(call('add', { a: 1 }), controller.signal, NO_SERVICES);
    controller.abort();
    expect(outcome).toMatchObject({ content: '2' });
  });
});

describe('the log', () => {
  test('above debug contains ids and names, and no content', async () => {
    const log = { warn: vi.fn<Log>(), debug: vi.fn<Log>() };
    const runner = runnerOf([faultyTool()], { log });
    const invocation = call('faulty', { throws: 'a secret' });
    await runner.execute(invocation, never, NO_SERVICES);
    expect(log.warn.mock.calls).toEqual([
      [
        {
          tool: 'faulty',
          tool_call_id: invocation.id,
          job_id: invocation.jobId,
          worker_id: invocation.workerId,
          context_id: invocation.contextId,
          error: 'Error',
          at: expect.arrayContaining([expect.stringContaining('faulty-tool.ts')]),
        },
        'a tool threw an error',
      ],
    ]);
    expect(JSON.stringify(log.warn.mock.calls)).not.toContain('secret');
    expect(log.debug.mock.calls[0]?.[0]['err']).toMatchObject({ message: 'a secret' });
  });
});

type Log = (fields: Record<string, unknown>, text: string) => void;
