// What tools start in a test is recorded and does not run.
import { expect, test } from 'vitest';
import { defineConfig, defineTool } from '../../src/index.ts';
import { runRole, runTool, simulatedModel } from '../../src/testing/index.ts';

const CONTEXT = '0198f000-0000-7000-8000-000000000002';

const start = defineTool({
  name: 'start',
  description: 'Starts work.',
  input_schema: { type: 'object', properties: { role: { type: 'string' } }, required: ['role'] },
  effect: 'idempotent',
  async execute({ role }, { spawn, enqueue }) {
    const { context_id } = await spawn('research', { role, input: 'Find it.' });
    await enqueue('tell', { context_id: CONTEXT, input: 'Started.' });
    return context_id;
  },
});
const config = defineConfig({ tools: [start], roles: { boss: { tools: ['start'] }, research: {} } });
const startAs = (role: string) => simulatedModel([{ calls: [{ tool: 'start', input: { role } }] }, 'ok']);

test('of one tool', async () => {
  const { output, started } = await runTool(start, { role: 'research' });
  expect(started).toEqual([
    { kind: 'spawn', step: 'research', input: 'Find it.', role: 'research', context_id: output },
    { kind: 'enqueue', step: 'tell', input: 'Started.', role: null, context_id: CONTEXT },
  ]);
});

test('of a role', async () => {
  const { calls, started } = await runRole(config, { role: 'boss', input: 'go', model: startAs('research') });
  expect(started).toEqual([
    {
      tool: 'start',
      kind: 'spawn',
      step: 'research',
      input: 'Find it.',
      role: 'research',
      context_id: calls[0]?.result,
    },
    { tool: 'start', kind: 'enqueue', step: 'tell', input: 'Started.', role: null, context_id: CONTEXT },
  ]);
});

test('a role that the config does not have is refused', async () => {
  const { calls, started } = await runRole(config, { role: 'boss', input: 'go', model: startAs('reserch') });
  expect(calls).toMatchObject([{ status: 'failed', is_error: true }]);
  const fault = { code: 'unknown_role', message: 'No role has the name "reserch".' };
  expect(calls[0]?.result).toBe(JSON.stringify({ error: fault }));
  expect(started).toEqual([]);
});
