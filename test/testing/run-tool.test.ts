// Which tool `runTool` runs.
import { expect, test } from 'vitest';
import { defineTool, defineToolPackage } from '../../src/index.ts';
import { runTool } from '../../src/testing/index.ts';

const named = (name: string) =>
  defineTool({
    name,
    description: 'A.',
    effect: 'none',
    input_schema: { type: 'object' },
    execute: () => `ran ${name}`,
  });

const weather = defineToolPackage({ name: 'weather', tools: () => [named('now'), named('forecast')] });
const single = defineToolPackage({ name: 'single', tools: () => [named('only')] });
const none = defineToolPackage({ name: 'none', tools: () => [] });

test('the only tool of a package needs no name', async () => {
  expect((await runTool(single(), {})).output).toBe('ran only');
  expect((await runTool(named('own'), {}, { tool: 'own' })).output).toBe('ran own');
});

test('of a package with several tools the named one runs', async () => {
  expect((await runTool(weather(), {}, { tool: 'forecast' })).output).toBe('ran forecast');
  expect((await runTool(weather({ prefix: 'w_' }), {}, { tool: 'w_now' })).output).toBe('ran now');
});

test.each([
  [
    'no name of several',
    () => runTool(weather({ prefix: 'w_' }), {}),
    "The package has several tools: w_now, w_forecast. Say which: runTool(package, input, { tool: 'w_now' }).",
  ],
  [
    'a name without its prefix',
    () => runTool(weather({ prefix: 'w_' }), {}, { tool: 'now' }),
    'tool: no tool has the name "now". Its tools: w_now, w_forecast.',
  ],
  ['a package without tools', () => runTool(none(), {}), 'There is no tool.'],
])('refused: %s', async (_, run, message) => {
  await expect(run()).rejects.toMatchObject({ code: 'unknown_tool', message });
});
