// Roles in memory: waits without time, answers of people, failures, and what is not valid.
import { describe, expect, test } from 'vitest';
import { defineConfig, ToolError } from '../../src/index.ts';
import { matchers, runRole, simulatedModel } from '../../src/testing/index.ts';

const config = defineConfig({
  tools: [
    {
      name: 'who',
      description: 'Tells for whom it runs.',
      input_schema: { type: 'object' },
      effect: 'none',
      execute(_, { tenant, user, metadata, worker, log, progress }) {
        log.info('asked', { by: worker.name });
        progress({ done: 1, total: 2 });
        return { tenant, user, metadata, role: worker.role };
      },
    },
    {
      name: 'mail',
      description: 'Sends a mail.',
      input_schema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
      effect: 'once',
      approval: 'always',
      execute: ({ to }) => {
        throw new ToolError(`No mailbox ${to}.`, { code: 'no_mailbox' });
      },
    },
  ],
  roles: {
    clerk: { system_prompt: 'You are a clerk.', model: 'anthropic/claude-x', tools: ['who', 'mail'] },
    patient: { tools: ['sleep_until', 'ask_user', 'remember', 'recall'] },
    files: { mcp_servers: ['files'] },
    boss: { tools: ['spawn_worker'] },
  },
  mcp_servers: { files: { command: 'files-server' } },
  limits: { approval_timeout_s: 3_600 },
});

const call = (tool: string, input = {}) => ({ calls: [{ tool, input }] });

describe('waits take no time', () => {
  test('a sleep of a day', async () => {
    const model = simulatedModel([call('sleep_until', { seconds: 86_400 }), 'Good morning.']);
    const run = await runRole(config, { role: 'patient', input: 'sleep', model });
    expect(run.output?.text).toBe('Good morning.');
    expect(run.calls).toMatchObject([{ result: '{"slept_s":86400}' }]);
    expect(run.elapsed_ms).toBeGreaterThanOrEqual(86_400_000);
  });

  test('retries of a failed model call, short and long', async () => {
    const model = simulatedModel([{ fail: 'overloaded' }, { fail: 'rate_limited', retry_after_s: 600 }, 'At last.']);
    const run = await runRole(config, { role: 'patient', input: 'go', model });
    expect(run).toMatchObject({ status: 'completed', output: { text: 'At last.' }, steps: 1 });
    expect(model.requests).toHaveLength(3);
    expect(run.elapsed_ms).toBeGreaterThanOrEqual(600_000);
  });

  test('an approval that no person gives is denied after its time', async () => {
    const model = simulatedModel([call('mail', { to: 'a' }), 'Not sent.']);
    const run = await runRole(config, { role: 'clerk', input: 'mail', model });
    expect(run.calls).toMatchObject([{ tool: 'mail', status: 'expired', is_error: true }]);
    expect(run.elapsed_ms).toBeGreaterThanOrEqual(3_600_000);
  });

  test('the timeout of the job ends it while it waits', async () => {
    const model = simulatedModel([call('sleep_until', { seconds: 600 }), 'never']);
    const run = await runRole(config, { role: 'patient', input: 'sleep', model, timeout_s: 60 });
    expect(run).toMatchObject({ status: 'incomplete', error: { code: 'deadline' }, output: null });
    expect(model.left).toBe(1);
  });
});

describe('people answer', () => {
  test('a question', async () => {
    const asked = call('ask_user', { question: 'Which?', choices: ['red', 'blue'] });
    const answer = ({ question, choices }: { question: string | null; choices: readonly string[] | null }) =>
      `${question} ${choices?.at(-1)}`;
    const run = await runRole(config, { role: 'patient', input: 'go', model: simulatedModel([asked, 'ok']), answer });
    expect(run.calls).toMatchObject([{ status: 'completed', result: 'Which? blue' }]);
  });

  test('without an answer the job waits, and says for what', async () => {
    const model = simulatedModel([call('ask_user', { question: 'Which?' })]);
    const run = await runRole(config, { role: 'patient', input: 'go', model });
    expect(run).toMatchObject({
      status: 'waiting',
      error: null,
      waiting_for: [{ waits_for: 'answer', call: { tool: 'ask_user', question: 'Which?' } }],
    });
  });

  test('an input behind one that waits is queued', async () => {
    const model = simulatedModel([call('ask_user', { question: 'Which?' })]);
    const run = await runRole(config, { role: 'patient', input: ['go', 'and on'], model });
    expect(run).toMatchObject({ status: 'queued', output: null, steps: 0, waiting_for: [{ waits_for: 'answer' }] });
  });

  test('an approval with an input that the schema refuses is none', async () => {
    const model = simulatedModel([call('mail', { to: 'a' }), 'sent']);
    const refused = runRole(config, { role: 'clerk', input: 'go', model, approve: () => ({ approve: { to: 7 } }) });
    await expect(refused).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('approve: the input does not match the schema of the tool mail: '),
    });
    expect(model.left).toBe(1);
  });

  test('a tool of the client', async () => {
    const tools = [{ name: 'screen', description: 'Takes a picture.', input_schema: { type: 'object' } }];
    const run = await runRole(config, {
      worker: { client_tools: tools },
      input: 'look',
      model: simulatedModel([call('screen'), 'seen']),
      answer: ({ tool }) => ({ content: `${tool} is broken`, is_error: true }),
    });
    expect(run.calls).toMatchObject([{ tool: 'screen', status: 'failed', result: 'screen is broken' }]);
  });
});

test('tools get for whom they run; what they report is kept', async () => {
  const model = simulatedModel([call('who'), 'ok']);
  const about = { tenant: 'acme', user: 'ann', metadata: { order: 7 } };
  const run = await runRole(config, { role: 'clerk', input: 'who?', model, ...about });
  expect(run.calls[0]?.result).toBe(JSON.stringify({ ...about, role: 'clerk' }));
  expect(run.log).toEqual([{ tool: 'who', level: 'info', message: 'asked', fields: { by: 'clerk' } }]);
  expect(run.progress).toEqual([{ tool: 'who', message: null, done: 1, total: 2 }]);
  expect(model.requests.map(({ model: name }) => name)).toEqual(['anthropic/claude-x', 'anthropic/claude-x']);
});

test('several inputs are one conversation, with one memory', async () => {
  const model = simulatedModel([
    call('remember', { key: 'a', value: '1' }),
    'kept',
    call('recall', { key: 'a' }),
    'read',
  ]);
  const run = await runRole(config, { role: 'patient', input: ['keep', 'read'], model });
  expect(run.messages.map(({ turn, role }) => `${turn} ${role}`)).toEqual([
    'u1 user',
    'a1 assistant',
    'a1 tool',
    'a1 assistant',
    'u2 user',
    'a2 assistant',
    'a2 tool',
    'a2 assistant',
  ]);
  expect(run.calls.at(-1)?.result).toBe('{"key":"a","value":"1"}');
});

test('a structured answer is checked, and asked for again', async () => {
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const model = simulatedModel(['no JSON', '{"n": 1}']);
  const run = await runRole(config, { input: 'go', model, output_schema: schema });
  expect(run.output).toEqual({ text: '{"n": 1}', data: { n: 1 } });
  expect(run.steps).toBe(2);
});

describe('failures are results', () => {
  test('of the model', async () => {
    const run = await runRole(config, { input: 'go', model: simulatedModel([{ fail: 'auth', message: 'No key.' }]) });
    expect(run).toMatchObject({ status: 'failed', error: { message: 'No key.' }, output: null });
  });

  test('answers that are used up', async () => {
    const run = await runRole(config, { role: 'clerk', input: 'go', model: simulatedModel([call('who')]) });
    expect(run.status).toBe('failed');
    expect(run.error?.message).toBe(
      'simulatedModel: 1 answer was given, and this is model call 2. Add an answer for it.',
    );
  });

  test('of a tool', async () => {
    const model = simulatedModel([call('mail', { to: 'x' }), 'sorry']);
    const run = await runRole(config, { role: 'clerk', input: 'go', model, approve: () => 'approve' });
    expect(run).toMatchObject({ status: 'completed', calls: [{ status: 'failed', is_error: true }] });
    expect(run.calls[0]?.result).toContain('no_mailbox');
  });

  test('max_steps', async () => {
    const model = simulatedModel([call('who'), call('who'), 'never']);
    const run = await runRole(config, { role: 'clerk', worker: { max_steps: 2 }, input: 'go', model });
    expect(run).toMatchObject({ status: 'incomplete', error: { code: 'max_steps' }, steps: 2 });
  });
});

describe('stand-ins', () => {
  test('run in place of a tool, under its schema and its approval', async () => {
    const model = simulatedModel([call('mail'), call('mail', { to: 'b' }), 'ok']);
    const standIns = { mail: ({ to }: { to: string }) => `to ${to}` };
    const run = await runRole(config, { role: 'clerk', input: 'go', model, standIns, approve: () => 'approve' });
    expect(run.calls).toMatchObject([{ status: 'failed' }, { status: 'completed', result: 'to b' }]);
  });

  test('are the tools of an MCP server, and workers', async () => {
    const files = simulatedModel([call('files__read', { path: 'a' }), 'ok']);
    const read = { files__read: () => 'text of a' };
    expect(
      (await runRole(config, { role: 'files', input: 'go', model: files, standIns: read, approve: () => 'approve' }))
        .calls,
    ).toMatchObject([{ result: 'text of a' }]);
    const boss = simulatedModel([call('spawn_worker', { input: 'do it' }), 'ok']);
    const spawned = { spawn_worker: () => ({ status: 'completed', output: 'done' }) };
    expect((await runRole(config, { role: 'boss', input: 'go', model: boss, standIns: spawned })).calls).toMatchObject([
      { result: '{"status":"completed","output":"done"}' },
    ]);
  });
});

test.each([
  [{ tools: [{ name: 'a' }] }, {}, 'invalid_config', 'tools[0]'],
  [config, { role: 'nurse' }, 'unknown_role', 'Its roles: clerk, patient, files, boss.'],
  [
    config,
    { role: 'files' },
    'unavailable',
    'mcp server files. Give stand-ins for its tools: standIns: { files__tool_name:',
  ],
  [config, { worker: { tools: ['nothing'] } }, 'invalid_config', 'worker.tools'],
])('what is not valid is refused before anything runs %#', async (given, options, code, text) => {
  const refused = runRole(given, { input: 'go', model: simulatedModel([]), ...options });
  await expect(refused).rejects.toMatchObject({ name: 'TestKitError', code, message: expect.stringContaining(text) });
});

test('toHaveCalled: a member that is null is there', async () => {
  const model = simulatedModel([call('who', { order: 7, coupon: null }), 'ok']);
  const run = await runRole(config, { role: 'clerk', input: 'go', model });
  const passes = (input: { [name: string]: number | null }) => matchers.toHaveCalled(run, 'who', input).pass;
  expect(passes({ coupon: null })).toBe(true);
  expect(passes({ discount: null })).toBe(false);
});
