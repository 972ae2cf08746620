// Replays of recorded conversations: people, rules, models, and recordings that cannot be read.
import { describe, expect, test } from 'vitest';
import { defineConfig } from '../../src/index.ts';
import { replay, simulatedModel } from '../../src/testing/index.ts';
import { diffLines } from '../../src/testing/replay/diff.ts';
import { exportOf, recordedCall } from './recordings.ts';

const recorded = (tool: string, result: string | null, isError = false, input = {}) =>
  recordedCall(tool, result, { role: 'shop', isError, input });

const shop = (approval: 'never' | 'always' | 'deny', prompt = 'You run a shop.') =>
  defineConfig({
    tools: [
      {
        name: 'refund',
        description: 'Pays back.',
        input_schema: { type: 'object' },
        effect: 'once',
        approval,
        execute: () => {
          throw new Error('A replay must not run it.');
        },
      },
    ],
    roles: { shop: { system_prompt: prompt } },
  });

test.each(['never', 'always'] as const)('what ran, runs: approval %s', async (approval) => {
  expect(await replay(recorded('refund', 'paid'), shop(approval))).toMatchObject({ equal: true, diff: '' });
});

test('a sleep took as long as in the recording, and as long as asked for if it really runs', async () => {
  const recording = recorded('sleep_until', '{"slept_s":60.3}', false, { seconds: 60 });
  const config = defineConfig({ roles: { shop: { tools: ['sleep_until'] } } });
  expect(await replay(recording, config)).toMatchObject({ equal: true, diff: '' });
  expect((await replay(recording, config, { run: ['sleep_until'] })).diff).toContain('+ ← {"slept_s":60}');
});

test.each(['Denied by the operator.', 'Denied by the operator: Too much.'])(
  'what was rejected, is: %s',
  async (text) => {
    const { diff, run } = await replay(recorded('refund', text, true), shop('always'));
    expect(diff).toBe('');
    expect(run.calls).toMatchObject([{ status: 'denied' }]);
  },
);

describe('what no person approved, does not run', () => {
  const guarded = (limits = {}) => {
    const ran: string[] = [];
    const execute = () => {
      ran.push('refund');
      return 'paid';
    };
    const tool = { name: 'refund', description: 'Pays back.', input_schema: { type: 'object' }, effect: 'once' };
    const config = { tools: [{ ...tool, approval: 'always', execute }], roles: { shop: {} }, limits };
    return { ran, config };
  };

  test.each([{}, { approval_timeout_s: 60 }, { approval_timeout_s: 60, approval_default: 'approve' }])(
    'a call that still waits, waits: %j',
    async (limits) => {
      for (const run of [[], ['refund']]) {
        const { ran, config } = guarded(limits);
        const replayed = await replay(recorded('refund', null), config, { run });
        expect(replayed).toMatchObject({ equal: true, diff: '' });
        expect(replayed.run).toMatchObject({
          status: 'waiting',
          waiting_for: [{ waits_for: 'approval', call: { tool: 'refund' } }],
        });
        expect(ran).toEqual([]);
      }
    },
  );

  test('nor does a call of another model', async () => {
    const { ran, config } = guarded();
    const model = simulatedModel([{ calls: [{ tool: 'refund', input: {} }] }, 'ok']);
    const replayed = await replay(recorded('refund', 'paid'), config, { model, run: ['refund'] });
    expect(replayed.run.status).toBe('waiting');
    expect(ran).toEqual([]);
  });

  test('a call that was cancelled before it ran, or denied by a rule', async () => {
    for (const text of [
      'Cancelled before it ran.',
      'Denied: this call is not allowed here. It did not run. Requesting it again will be denied too.',
    ]) {
      const { ran, config } = guarded();
      const replayed = await replay(recorded('refund', text, true), config, { run: ['refund'] });
      expect(replayed.run.status).toBe('waiting');
      expect(ran).toEqual([]);
    }
  });

  test.each([
    'Cancelled before it ran.',
    'This call was not approved in time. It did not run.',
    'Denied by the operator.',
  ])('a call that waited because of a rule, although `approval_default` is `approve`: %s', async (text) => {
    const { ran, config } = guarded({ approval_timeout_s: 60, approval_default: 'approve' });
    const tools = config.tools.map((tool) => ({ ...tool, approval: 'never' as const }));
    const worker = { approval: [{ tool: 'refund', decision: 'always' as const }] };
    const replayed = await replay(recorded('refund', text, true), { ...config, tools }, { run: ['refund'], worker });
    expect(replayed.run.calls).toMatchObject([{ is_error: true }]);
    expect(ran).toEqual([]);
  });

  test('one that was approved runs, if `run` names it', async () => {
    const { ran, config } = guarded();
    const replayed = await replay(recorded('refund', 'paid'), config, { run: ['refund'] });
    expect(replayed.equal).toBe(true);
    expect(ran).toEqual(['refund']);
  });
});

test('a rule that now denies shows in the conversation', async () => {
  const { diff } = await replay(recorded('refund', 'paid'), shop('deny'));
  expect(diff).toBe(
    [
      'conversation:',
      '  user: Pay it back.',
      '  → refund {}',
      '- ← paid',
      '+ ← error: Denied: this call is not allowed here. It did not run. Requesting it again will be denied too.',
      '  assistant: Done.',
    ].join('\n'),
  );
});

test('an answer of a person is given again', async () => {
  const asked = recorded('ask_user', 'blue', false, { question: 'Which?' });
  expect((await replay(asked, shop('never'))).diff).toBe('');
});

test('the role of another version of the config is compared with `against`', async () => {
  const { prompt, conversation } = await replay(recorded('refund', 'paid'), shop('never', 'You run a bank.'), {
    against: shop('never'),
  });
  expect(prompt).toContain('-   You run a shop.');
  expect(prompt).toContain('+   You run a bank.');
  expect(conversation).toEqual([]);
});

test('another model gives other answers', async () => {
  const model = simulatedModel(['I will not.']);
  const { conversation } = await replay(recorded('refund', 'paid'), shop('never'), { model });
  expect(conversation).toEqual([
    '  user: Pay it back.',
    '- → refund {}',
    '- ← paid',
    '- assistant: Done.',
    '+ assistant: I will not.',
  ]);
});

test('a recorded tool of an MCP server, and one that reaches outside', async () => {
  for (const tool of ['files__read', 'http_fetch']) {
    const input = { url: 'https://example.com' };
    expect((await replay(recorded(tool, 'text', false, input), shop('never'))).diff).toBe('');
  }
});

test.each([
  ['{', 'it is no JSON'],
  [{ format: 'paired' }, 'invalid'],
  [
    exportOf([{ role: 'assistant', type: 'text', turn: 'a1', content: [{ type: 'text', text: 'Hi.' }] }], {}),
    'no input',
  ],
])('a recording that cannot be replayed %#', async (given, text) => {
  const refused = replay(given, shop('never'));
  await expect(refused).rejects.toMatchObject({ code: 'invalid_recording' });
  if (text !== 'invalid') await expect(refused).rejects.toThrow(text);
});

test('a diff keeps what is equal, and shows three lines around a change', () => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at}`);
  expect(diffLines(lines, lines)).toEqual([]);
  expect(diffLines(lines, lines.toSpliced(10, 1, 'new', 'more'))).toEqual([
    '  …',
    '  line 7',
    '  line 8',
    '  line 9',
    '- line 10',
    '+ new',
    '+ more',
    '  line 11',
    '  line 12',
    '  line 13',
    '  …',
  ]);
});
