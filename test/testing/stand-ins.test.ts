// Stand-ins: names are checked, and what a tool is stays.
import { describe, expect, test } from 'vitest';
import { defineConfig } from '../../src/index.ts';
import { replay, runRole, simulatedModel } from '../../src/testing/index.ts';
import { recordedCall } from './recordings.ts';

let ran = 0;
const tool = (name: string) => ({
  name,
  description: 'Pays.',
  input_schema: { type: 'object' },
  effect: 'once' as const,
  execute: () => {
    ran += 1;
    return 'paid';
  },
});
const config = defineConfig({
  tools: [tool('refund'), tool('constructor')],
  roles: {
    shop: { tools: ['refund', 'constructor'] },
    web: { tools: ['http_fetch', 'run_command', 'send_message'] },
    files: { mcp_servers: ['files', 'notes'], tools: ['http_fetch', 'notes__read'] },
  },
  mcp_servers: { files: { command: 'files-server' }, notes: { command: 'notes-server', approval: 'never' } },
});
const call = (name: string, input = {}) => ({ calls: [{ tool: name, input }] });

describe('a name that is not that of a tool is refused before anything runs', () => {
  test.each(['refnud', 'toString', 'mail__send'])('runRole: %s', async (name) => {
    ran = 0;
    const model = simulatedModel([call('refund'), 'ok']);
    const refused = runRole(config, { role: 'shop', input: 'go', model, standIns: { [name]: () => 'no' } });
    await expect(refused).rejects.toMatchObject({
      code: 'unknown_tool',
      message: expect.stringContaining(
        `standIns: no tool has the name "${name}". The tools of the config: refund, constructor, files__…, notes__….`,
      ),
    });
    expect(ran).toBe(0);
  });

  test('replay: `run` and `standIns`', async () => {
    const recorded = recordedCall('refund', 'paid');
    for (const options of [{ run: ['refnud'] }, { standIns: { refnud: () => 'no' } }])
      await expect(replay(recorded, config, options)).rejects.toMatchObject({ code: 'unknown_tool' });
  });

  test('replay: one that only the new config has is left out for `against`', async () => {
    const recorded = recordedCall('refund', 'paid', { role: 'shop', config: {} });
    const against = { tools: [tool('refund')], roles: { shop: { tools: ['refund'] } } };
    const options = { against, run: ['constructor'], standIns: { constructor: () => 'no' } };
    const { prompt, conversation } = await replay(recorded, config, options);
    expect(prompt).toContain('+ tool constructor:');
    expect(conversation).toEqual([]);
  });
});

test('a tool with the name of a member of every object runs itself', async () => {
  ran = 0;
  const model = simulatedModel([call('constructor'), 'ok']);
  const run = await runRole(config, { role: 'shop', input: 'go', model, standIns: { refund: () => 'no' } });
  expect(run.calls).toMatchObject([{ tool: 'constructor', result: 'paid' }]);
  expect(ran).toBe(1);
});

describe('a built-in tool keeps', () => {
  const standIns = { http_fetch: () => 'page', run_command: () => 'done', send_message: () => 'sent' };

  test('its schema', async () => {
    const model = simulatedModel([call('http_fetch', { uri: 'x' }), call('send_message', {}), 'ok']);
    const run = await runRole(config, { role: 'web', input: 'go', model, standIns });
    expect(run.calls).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
    expect(model.requests[0]?.tools).toMatchObject([
      { name: 'http_fetch', description: expect.stringContaining('HTTP request'), input_schema: { required: ['url'] } },
      { name: 'run_command', input_schema: { required: ['argv'] } },
      { name: 'send_message' },
    ]);
  });

  test.each([
    ['run_command', { argv: ['ls'] }],
    ['http_fetch', { url: 'https://example.com', method: 'POST' }],
  ])('its approval: %s', async (name, input) => {
    const model = simulatedModel([call(name, input), 'ok']);
    const run = await runRole(config, { role: 'web', input: 'go', model, standIns });
    expect(run).toMatchObject({ status: 'waiting', waiting_for: [{ waits_for: 'approval', call: { tool: name } }] });
  });

  test('its effect: in plan mode, one with an effect is not offered', async () => {
    const model = simulatedModel(['ok']);
    await runRole(config, { role: 'web', worker: { mode: 'plan' }, input: 'go', model, standIns });
    expect(model.requests[0]?.tools).toEqual([]);
  });
});

describe('a tool of an MCP server', () => {
  test('needs approval', async () => {
    const model = simulatedModel([call('files__read'), 'ok']);
    const worker = { mcp_servers: ['files'], tools: [] };
    const standIns = { files__read: () => 'text' };
    const waiting = await runRole(config, { worker, input: 'go', model, standIns });
    expect(waiting.waiting_for).toMatchObject([{ waits_for: 'approval', call: { tool: 'files__read' } }]);
  });

  test('needs none if the config says so', async () => {
    const model = simulatedModel([call('notes__read'), 'ok']);
    const worker = { mcp_servers: ['notes'] };
    const run = await runRole(config, { worker, input: 'go', model, standIns: { notes__read: () => 'text' } });
    expect(run.calls).toMatchObject([{ status: 'completed', result: 'text' }]);
  });
});

test('a replay needs no built-in tool and no MCP server that the recording did not use', async () => {
  const recorded = recordedCall('http_fetch', 'page', {
    role: 'files',
    config: {},
    input: { url: 'https://example.com' },
  });
  expect(await replay(recorded, config)).toMatchObject({ equal: true, diff: '' });
  const none = recordedCall('files__read', 'text', { role: 'files', config: {} });
  expect(await replay(none, config)).toMatchObject({ equal: true, diff: '' });
});
