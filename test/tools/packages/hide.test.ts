// Secrets in texts, and in everything that a tool hands to the platform.
import * as fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import type { AskedWorker } from '../../../src/core/tools/starts.ts';
import { ToolError, type ToolContext } from '../../../src/index.ts';
import { untilSignal } from '../../../src/platform/signals.ts';
import { hiddenError } from '../../../src/tools/packages/hidden-services.ts';
import { AS_IT_IS, hiddenIn, hideOf } from '../../../src/tools/packages/hide.ts';
import { ToolFault } from '../../../src/tools/run/tool-fault.ts';
import { call, resultOf, runnerOf, stepsIn } from '../invoke.ts';

const SECRET = 'pa"ss/wo rd+1';
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const hide = hideOf([{ name: 'KEY', value: SECRET }]);

test.each([
  ['itself', `a ${SECRET} b ${SECRET}`, 'a [secret KEY] b [secret KEY]'],
  ['in JSON', JSON.stringify({ a: SECRET }), '{"a":"[secret KEY]"}'],
  ['in a path of a URL', `https://a.example/${encodeURIComponent(SECRET)}`, 'https://a.example/[secret KEY]'],
  ['in a query', `?${new URLSearchParams({ key: SECRET }).toString()}&b=1`, '?key=[secret KEY]&b=1'],
  ['in base64', Buffer.from(SECRET).toString('base64'), '[secret KEY]'],
  ['in base64 of a user and it', basic(`user:${SECRET}`), 'Basic dXNlcjp[secret KEY]'],
  [
    'in JSON in JSON',
    JSON.stringify({ a: JSON.stringify({ b: SECRET }) }),
    String.raw`{"a":"{\"b\":\"[secret KEY]\"}"}`,
  ],
  ['in JSON of PHP', String.raw`{"a":"pa\"ss\/wo rd+1"}`, '{"a":"[secret KEY]"}'],
  ['a part of it', SECRET.slice(1), SECRET.slice(1)],
])('a secret is hidden: %s', (_, text, hidden) => {
  expect(hide(text)).toBe(hidden);
});

test.each(['', 'a', 'ab', 'abc', 'name:'])('base64 of it after %j and before others is hidden', (before) => {
  for (const after of ['', ':', '::', 'more'])
    for (const as of ['base64', 'base64url'] as const)
      expect(hide(Buffer.from(`${before}${SECRET}${after}`).toString(as))).toContain('[secret KEY]');
});

test('the line end of a file is no part of a secret', () => {
  expect(hideOf([{ name: 'KEY', value: 'of-a-file\n' }])('Bearer of-a-file')).toBe('Bearer [secret KEY]');
});

test('of a secret that contains another one nothing is left', () => {
  const both = hideOf([
    { name: 'SHORT', value: 'abcdef' },
    { name: 'LONG', value: 'abcdefghi' },
  ]);
  expect(both('abcdefghi abcdef')).toBe('[secret LONG] [secret SHORT]');
});

test('whatever the secret is, its text is not left', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 6, unit: 'grapheme' }), fc.string(), fc.string(), (value, before, after) => {
      fc.pre(value.trim().length >= 6 && !'[secret K]'.includes(value.trim()));
      const hidden = hideOf([{ name: 'K', value }])(`${before}${value}${after}`);
      expect(hidden).toContain('[secret K]');
    }),
  );
});

test('values keep their form', () => {
  const numeric = hideOf([{ name: 'PIN', value: '123456' }]);
  const at = new Date(0);
  expect(hiddenIn({ a: ['x 123456', 123456, 7, null, at], '123456': true }, numeric)).toEqual({
    a: ['x [secret PIN]', '[secret PIN]', 7, null, at],
    '[secret PIN]': true,
  });
  expect(hideOf([])).toBe(AS_IT_IS);
});

const fails = (): never => {
  throw new Error(SECRET);
};

const ANY = { description: 'A.', input_schema: { type: 'object' } } as const;

type Execute = (context: ToolContext) => unknown;

/** Runs a tool, and returns all that left it. */
async function leaving(execute: Execute, effect: 'none' | 'idempotent' = 'none') {
  const logged: unknown[] = [];
  const reported: unknown[] = [];
  const asked: AskedWorker[] = [];
  const steps = new Map();
  const add = (fields: object, text: string): unknown => logged.push(inspect({ fields, text }, { depth: 9 }));
  const runner = runnerOf([{ ...ANY, name: 'tool', effect, execute: (_, context) => execute(context) as string }], {
    limits: { toolResult: 60, toolTimeoutMs: 60_000 },
    hide,
    log: { warn: add, debug: add },
  });
  const result = await resultOf(runner, call('tool', {}), {
    report: {
      log: (level, message, fields) => reported.push({ level, message, fields }),
      progress: (progress) => reported.push(progress),
    },
    steps: stepsIn(steps),
    starts: {
      spawn: async (step, worker) => {
        asked.push(worker);
        return { kind: 'done', value: { step, worker_id: randomUUID(), job_id: randomUUID() } };
      },
      enqueue: async () => null,
    },
  });
  return { result, logged: logged.join('\n'), reported, asked, steps };
}

describe('what a tool hands over', () => {
  test.each<[string, Execute, unknown]>([
    ['a text', () => `key ${SECRET}`, { content: 'key [secret KEY]', is_error: false }],
    ['an object', () => ({ key: SECRET }), { content: '{"key":"[secret KEY]"}', is_error: false }],
    [
      'a secret at the place where the text is cut',
      () => `${'x'.repeat(55)}${SECRET}`,
      { content: expect.stringMatching(/^x{55}\[secr\n\[Truncated: 7 of 67 /), is_error: false },
    ],
    [
      'blocks',
      () => ({ content: [{ type: 'text', text: SECRET }], compact_summary: `was ${SECRET}` }),
      { content: [{ type: 'text', text: '[secret KEY]' }], compact_summary: 'was [secret KEY]', is_error: false },
    ],
    [
      'an image at a URL with it',
      () => ({
        content: [
          { type: 'image', source: { type: 'url', url: `https://a.example/?k=${encodeURIComponent(SECRET)}` } },
        ],
      }),
      {
        content: [
          { type: 'text', text: expect.stringContaining('(An image was omitted: its URL contains a secret.)') },
        ],
        is_error: false,
      },
    ],
    ['an error', () => ({ content: SECRET, is_error: true }), { content: '[secret KEY]', is_error: true }],
  ])('the result: %s', async (_, execute, result) => {
    const left = await leaving(execute);
    expect(left.result).toMatchObject(result as object);
    expect(inspect(left, { depth: 9 })).not.toContain('wo rd');
  });

  test('the errors', async () => {
    const own = await leaving(() => {
      throw new ToolError(`refused ${SECRET}`, { code: SECRET, cause: new Error(`because ${SECRET}`) });
    });
    expect(own.result.content).toBe('{"error":{"code":"[secret KEY]","message":"refused [secret KEY]"}}');
    expect(own.logged).toContain('because [secret KEY]');
    const other = await leaving(() => {
      const error = new TypeError(`fetch ${SECRET}`, { cause: new Error(`cause ${SECRET}`) });
      throw Object.assign(error, { code: 'E_KEY', headers: { authorization: SECRET } });
    });
    expect(other.logged).toMatch(/TypeError.*: fetch \[secret KEY\]/);
    expect(other.logged).toContain('cause [secret KEY]');
    expect(other.logged).toContain('E_KEY');
    for (const { logged, result } of [own, other]) expect(`${logged}${inspect(result)}`).not.toContain('wo rd');
    const thrown = await leaving(() => {
      throw { key: SECRET };
    });
    expect(thrown.logged).not.toContain('wo rd');
  });

  test.each<[string, () => unknown]>([
    ['a message that is a list', () => Object.assign(new Error('x'), { message: [SECRET] })],
    ['a name that is an object', () => Object.assign(new Error('x'), { name: { a: SECRET } })],
    ['a stack that is a number', () => Object.assign(new Error('x'), { stack: 7 })],
    ['a code that throws', () => Object.defineProperty(new Error(SECRET), 'code', { get: fails })],
    ['a message that throws', () => Object.defineProperty(new Error(SECRET), 'message', { get: fails })],
    ['a cause that throws', () => Object.defineProperty(new ToolError(SECRET), 'cause', { get: fails })],
    ['members that all throw', () => new Proxy(new Error(SECRET), { get: fails, getPrototypeOf: fails, has: fails })],
  ])('an odd error is a result too: %s', async (_, error) => {
    const left = await leaving(() => {
      throw error();
    });
    expect(left.result).toMatchObject({ is_error: true, content: expect.stringContaining('The tool tool failed') });
    expect(left.logged).toContain('a tool threw an error');
    expect(inspect(left, { depth: 9 })).not.toContain('wo rd');
  });

  test('an error that no code awaits is logged without it', () => {
    const log: unknown[] = [];
    const add = (fields: unknown): unknown => log.push(inspect(fields, { depth: 9 }));
    const emitted: [string, (error: unknown) => void][] = [];
    const on = vi.spyOn(process, 'on').mockImplementation((name, listener) => {
      emitted.push([String(name), listener]);
      return process;
    });
    void untilSignal({ error: add, fatal: add } as never, { hide: () => hide });
    on.mockRestore();
    for (const [name, listener] of emitted)
      if (!name.startsWith('SIG')) listener(Object.assign(new Error(`of ${SECRET}`), { key: SECRET }));
    expect(log).toEqual([1, 2].map(() => expect.stringContaining('Error: of [secret KEY]')));
    expect(log.join('')).not.toContain('wo rd');
  });

  test('of a failed query the log gets the statement without parameters', () => {
    const error = Object.assign(new Error(`Failed query: insert; ${SECRET}`), { query: 'insert', params: [SECRET] });
    expect(hiddenError(error, hide)).toMatchObject({ query: 'insert', params: [] });
  });

  test('a long message of an error is hidden before it is cut', async () => {
    const { result } = await leaving(() => {
      throw new ToolFault('not_found', `${'x'.repeat(3_990)}${SECRET}`, { [SECRET]: `of ${SECRET}` });
    });
    expect(result.content).toContain('x[secret KE');
    expect(result.content).toContain('"[secret KEY]":"of [secret KEY]"');
    expect(JSON.stringify(result)).not.toContain('pa');
  });

  test('its log and its progress', async () => {
    const { reported } = await leaving(({ log, progress }) => {
      log.info(SECRET, { nested: [{ key: SECRET }], map: new Map([['a', SECRET]]) });
      log.warn('failed', new Error(SECRET));
      progress(`doing ${SECRET}`);
      progress({ message: SECRET, done: 1, total: 2 });
      return 'ok';
    });
    expect(reported).toEqual([
      {
        level: 'info',
        message: '[secret KEY]',
        fields: { nested: [{ key: '[secret KEY]' }], map: [['a', '[secret KEY]']] },
      },
      { level: 'warn', message: 'failed', fields: { error: 'Error: [secret KEY]' } },
      'doing [secret KEY]',
      { message: '[secret KEY]', done: 1, total: 2 },
    ]);
  });

  test('names of steps and inputs of other workers, but not the results of steps', async () => {
    const { asked, steps, result } = await leaving(async ({ step, spawn }) => {
      const kept = await step(`of ${SECRET}`, () => SECRET);
      await spawn('child', { name: `for ${SECRET}`, input: `use ${SECRET}`, metadata: { key: [SECRET] } });
      return kept === SECRET ? 'the same' : 'another';
    }, 'idempotent');
    expect(result.content).toBe('the same');
    expect(result.spawned).toMatchObject([{ name: 'for [secret KEY]' }]);
    expect([...steps.keys()]).toEqual(['of [secret KEY]']);
    expect(asked).toMatchObject([{ input: 'use [secret KEY]', metadata: { key: ['[secret KEY]'] } }]);
  });
});
