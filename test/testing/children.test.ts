// Workers that a role creates: they run in memory too, each with its own answers.
import { describe, expect, test } from 'vitest';
import { defineConfig } from '../../src/index.ts';
import { runRole, simulatedModel, type RunCall } from '../../src/testing/index.ts';

const config = defineConfig({
  tools: [
    {
      name: 'look_up',
      description: 'Looks up.',
      input_schema: { type: 'object' },
      effect: 'none',
      execute(_, { log, worker }) {
        log.info('looked up', { by: worker.name });
        return { found: worker.role };
      },
    },
    {
      name: 'pay',
      description: 'Pays.',
      input_schema: { type: 'object' },
      effect: 'once',
      approval: 'always',
      execute: () => 'paid',
    },
  ],
  roles: {
    boss: { system_prompt: 'You are the boss.', tools: ['spawn_worker', 'wait_for_workers'] },
    researcher: { system_prompt: 'You look up.', tools: ['look_up', 'sleep_until', 'pay', 'ask_user'] },
    lonely: { tools: ['spawn_worker'], limits: { depth: 0 } },
  },
});

/** The JSON that the model got of a call. */
function resultOf(of: RunCall | undefined): unknown {
  if (typeof of?.result !== 'string') throw new Error('The call has no text as its result.');
  return JSON.parse(of.result);
}

const call = (tool: string, input = {}) => ({ calls: [{ tool, input }] });
const spawn = (input: object) => ({ tool: 'spawn_worker', input: { role: 'researcher', ...input } });

describe('a child that its parent waits for', () => {
  test('runs with its own answers, tools and prompt, and its answer is the result of the call', async () => {
    const model = simulatedModel([{ calls: [spawn({ input: 'Find it.' })] }, 'It was found.']);
    const researcher = simulatedModel([call('look_up'), 'It is here.']);
    const run = await runRole(config, { role: 'boss', input: 'go', model, models: { researcher } });
    expect(run).toMatchObject({ status: 'completed', output: { text: 'It was found.' }, log: [] });
    expect(run.calls).toMatchObject([{ tool: 'spawn_worker', status: 'completed', is_error: false }]);
    expect(resultOf(run.calls[0])).toMatchObject({ status: 'completed', output: 'It is here.' });
    expect(run.children).toMatchObject([
      {
        name: 'researcher',
        role: 'researcher',
        status: 'completed',
        output: { text: 'It is here.' },
        calls: [{ tool: 'look_up', result: '{"found":"researcher"}' }],
        log: [{ message: 'looked up', fields: { by: 'researcher' } }],
        children: [],
      },
    ]);
    expect(researcher.requests[0]).toMatchObject({ system: expect.stringContaining('You look up.') });
    expect(JSON.stringify(researcher.requests[0]?.messages)).toContain('Find it.');
  });

  test('two of one role have answers of their own by their names', async () => {
    const calls = [spawn({ input: 'go', name: 'north' }), spawn({ input: 'go', name: 'south' })];
    const model = simulatedModel([{ calls }, 'done']);
    const models = { north: simulatedModel(['cold']), researcher: simulatedModel(['warm']) };
    const { children } = await runRole(config, { role: 'boss', input: 'go', model, models });
    expect(children.map(({ name, output }) => [name, output?.text])).toEqual([
      ['north', 'cold'],
      ['south', 'warm'],
    ]);
  });

  test('a key of models that no role and no worker has is told', async () => {
    const run = runRole(config, {
      role: 'boss',
      input: 'go',
      model: simulatedModel([{ calls: [spawn({ input: 'say: one', name: 'north' })] }, 'done']),
      models: { reseacher: simulatedModel(['never']) },
    });
    await expect(run).rejects.toMatchObject({
      code: 'unknown_role',
      message:
        'models: no role and no worker of this run has the name "reseacher". Roles: boss, researcher, lonely. Workers: north.',
    });
  });

  test('several at once, scripted by their inputs; one fails', async () => {
    const calls = [spawn({ input: 'say: one', name: 'a' }), spawn({ input: 'fail: auth', name: 'b' })];
    const model = simulatedModel([{ calls }, 'done']);
    const run = await runRole(config, { role: 'boss', input: 'go', model });
    expect(run.children.map(({ name, status }) => ({ name, status }))).toEqual([
      { name: 'a', status: 'completed' },
      { name: 'b', status: 'failed' },
    ]);
    expect(run.calls).toMatchObject([{ is_error: false }, { is_error: true }]);
    expect(resultOf(run.calls[1])).toMatchObject({ error: { code: 'provider_auth' } });
  });

  test('may sleep for a day, and have children of its own', async () => {
    const script =
      'call: spawn_worker {"input": "call: sleep_until {\\"seconds\\": 86400}\\n---\\nsay: awake", "role": "researcher"}';
    const model = simulatedModel([
      { calls: [spawn({ role: 'boss', input: `${script}\n---\nsay: it is awake` })] },
      'ok',
    ]);
    const run = await runRole(config, { role: 'boss', input: 'go', model });
    expect(run.status).toBe('completed');
    expect(run.children).toMatchObject([
      { role: 'boss', output: { text: 'it is awake' }, children: [{ role: 'researcher', output: { text: 'awake' } }] },
    ]);
    expect(run.elapsed_ms).toBeGreaterThanOrEqual(86_400_000);
  });

  test('waits for a person, who learns whose call it is', async () => {
    const model = () =>
      simulatedModel([{ calls: [spawn({ input: 'call: pay {}\n---\nsay: paid', name: 'payer' })] }, 'ok']);
    const asked: unknown[] = [];
    const approved = await runRole(config, {
      role: 'boss',
      input: 'go',
      model: model(),
      approve({ tool, worker }) {
        asked.push({ tool, worker });
        return 'approve';
      },
    });
    expect(approved).toMatchObject({ status: 'completed', children: [{ calls: [{ tool: 'pay', result: 'paid' }] }] });
    expect(asked).toEqual([{ tool: 'pay', worker: { name: 'payer', role: 'researcher' } }]);
    const waiting = await runRole(config, { role: 'boss', input: 'go', model: model() });
    expect(waiting).toMatchObject({ status: 'waiting', children: [{ status: 'waiting' }] });
    expect(waiting.waiting_for).toMatchObject([
      { waits_for: 'approval', call: { tool: 'pay', worker: { name: 'payer' } } },
    ]);
  });

  test('ends with the deadline of the job', async () => {
    const model = simulatedModel([{ calls: [spawn({ input: 'ask: Which?' })] }, 'ok']);
    const run = await runRole(config, { role: 'boss', input: 'go', model, timeout_s: 60 });
    expect(run).toMatchObject({ status: 'incomplete', error: { code: 'deadline' } });
    expect(run.children).toMatchObject([{ status: 'incomplete', error: { code: 'deadline' } }]);
  });
});

describe('a child that its parent does not wait for', () => {
  test('tells its end by an input', async () => {
    const model = simulatedModel([{ calls: [spawn({ input: 'say: later', wait: false })] }, 'started', 'I heard.']);
    const run = await runRole(config, { role: 'boss', input: 'go', model });
    expect(run).toMatchObject({ status: 'completed', output: { text: 'started' } });
    const texts = run.messages.map(({ text }) => text);
    expect(texts.at(-2)).toMatch(/^Report: job .+ of worker "researcher" \(.+\) ended: completed\.\n\nlater$/);
    expect(texts.at(-1)).toBe('I heard.');
    expect(model.left).toBe(0);
  });

  test('is waited for later: then no input tells its end', async () => {
    const model = simulatedModel([
      { calls: [spawn({ input: 'say: one', wait: false }), spawn({ input: 'say: two', wait: false })] },
      ({ messages }) => {
        const ids = [...JSON.stringify(messages).matchAll(/worker_id\\":\\"([\w-]+)/g)].map(([, id = '']) => id);
        return { calls: [{ tool: 'wait_for_workers', input: { worker_ids: ids } }] };
      },
      'both are done',
    ]);
    const run = await runRole(config, { role: 'boss', input: 'go', model });
    expect(run).toMatchObject({ status: 'completed', output: { text: 'both are done' } });
    expect(resultOf(run.calls.at(-1))).toMatchObject([{ output: 'one' }, { output: 'two' }]);
    expect(run.messages.filter(({ text }) => text.startsWith('Report:'))).toEqual([]);
    expect(model.left).toBe(0);
  });

  test('a wait with a time ends', async () => {
    const sleeper = 'call: sleep_until {"seconds": 3600}\n---\nsay: late';
    const model = simulatedModel([
      { calls: [spawn({ input: sleeper, wait: false })] },
      ({ messages }) => {
        const [, id = ''] = /worker_id\\":\\"([\w-]+)/.exec(JSON.stringify(messages)) ?? [];
        return { calls: [{ tool: 'wait_for_workers', input: { worker_ids: [id], timeout_s: 60 } }] };
      },
      'not yet',
      'now',
    ]);
    const run = await runRole(config, { role: 'boss', input: 'go', model });
    expect(run.output?.text).toBe('not yet');
    expect(run.messages.at(-1)?.text).toBe('now');
    expect(run.children).toMatchObject([{ status: 'completed', output: { text: 'late' } }]);
  });
});

describe('what is refused', () => {
  test.each([
    ['an unknown role', 'boss', { role: 'no-such-role' }, 'unknown_role'],
    ['a tool that neither parent nor role has', 'boss', { tools: ['http_fetch'] }, 'unknown_tool'],
    ['more depth than allowed', 'lonely', {}, 'worker_limit'],
  ])('%s', async (_, role, more, code) => {
    const model = simulatedModel([{ calls: [spawn({ input: 'say: x', ...more })] }, 'ok']);
    const run = await runRole(config, { role, input: 'go', model });
    expect(run).toMatchObject({ status: 'completed', children: [], calls: [{ is_error: true }] });
    expect(resultOf(run.calls[0])).toMatchObject({ error: { code } });
  });
});
