import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/tools/parse-config.ts';
import { faultyTool } from './faulty-tool.ts';

const tool = faultyTool({ name: 'read_file' });

function faultsOf(config: unknown): string[] {
  const parsed = parseConfig(config);
  return parsed.ok ? [] : parsed.faults;
}

describe('a sound configuration', () => {
  test('gives tools, roles and limits', () => {
    const parsed = parseConfig({
      tools: [
        { ...tool, effect: 'once', approval: 'never', on_unknown: 'tell', timeout_ms: 5 },
        { ...tool, name: 'zod', input_schema: undefined, input: z.object({ a: z.string() }) },
      ],
      roles: {
        coder: {
          system_prompt: 'You code.',
          model: 'openai-chat/some/model',
          streaming: false,
          mode: 'act',
          tools: ['read_file', 'zod'],
          max_steps: 5,
          max_tokens: 100,
          parameters: { temperature: 0.5 },
        },
        plain: {},
      },
      limits: { queued_inputs: 1, max_steps: 2, tool_result: 300, tool_timeout_ms: 4 },
    });
    if (!parsed.ok) throw new Error(parsed.faults.join('\n'));
    const { tools, roles, limits } = parsed.settings;
    expect(tools.map(({ descriptor, timeoutMs }) => [descriptor.name, descriptor.effect, timeoutMs])).toEqual(
      [
        ['read_file', 'once', 5],
        ['zod', 'none', null],
      ],
    );
    expect([...roles]).toEqual([
      [
        'coder',
        {
          system_prompt: 'You code.',
          model: 'openai-chat/some/model',
          streaming: false,
          tools: ['read_file', 'zod'],
          max_steps: 5,
          max_tokens: 100,
          parameters: { temperature: 0.5 },
        },
      ],
      ['plain', {}],
    ]);
    expect(limits).toEqual({ queuedInputs: 1, maxSteps: 2, toolResult: 300, toolTimeoutMs: 4 });
  });

  test('may be empty, and may name what it leaves open', () => {
    expect(parseConfig({})).toEqual({ ok: true, settings: { tools: [], roles: new Map(), limits: {} } });
    expect(faultsOf({ tools: undefined, roles: undefined, limits: {}, mcp_servers: undefined })).toEqual([]);
    expect(faultsOf({ tools: [{ ...tool, timeout_ms: undefined, reconcile: undefined }] })).toEqual([]);
  });
});

describe('a faulty configuration', () => {
  test.each<[string, unknown, string]>([
    ['effect', 'maybe', 'tools[0].effect: must be none, idempotent or once'],
    ['effect', undefined, 'tools[0].effect: is missing'],
    ['name', 'read file', 'tools[0].name: must be 1 to 64 letters, digits, "_" or "-"'],
    ['name', 'x'.repeat(65), 'tools[0].name: must be 1 to 64 letters, digits, "_" or "-"'],
    ['name', 'read_file\n', 'tools[0].name: must be 1 to 64 letters, digits, "_" or "-"'],
    ['name', undefined, 'tools[0].name: is missing'],
    ['description', ' ', 'tools[0].description: must be a string with text'],
    ['timeout_ms', 0, 'tools[0].timeout_ms: must be a whole number from 1 to 2147483647'],
    ['timeout_ms', 2 ** 31, 'tools[0].timeout_ms: must be a whole number from 1 to 2147483647'],
    ['timeout_ms', '5', 'tools[0].timeout_ms: must be a whole number from 1 to 2147483647'],
    ['execute', 'rm -rf', 'tools[0].execute: must be a function'],
    ['execute', undefined, 'tools[0].execute: is missing'],
    ['input_schema', undefined, 'tools[0]: needs input or input_schema'],
    ['input', {}, 'tools[0]: has both input and input_schema: one of them'],
    [
      'input_schema',
      { type: 'array' },
      'tools[0].input_schema.type: must be "object": tools take named arguments',
    ],
    ['approval', 'always', "tools[0].approval: is not built yet, but for 'never'"],
    ['approval', () => 'never', "tools[0].approval: is not built yet, but for 'never'"],
    ['on_unknown', 'ask', "tools[0].on_unknown: is not built yet, but for 'tell'"],
    ['reconcile', () => null, 'tools[0].reconcile: is not built yet'],
    ['timeout', 5, expect.stringMatching(/^tools\[0\]\.timeout: is no member of a tool; known are name, /)],
    ['a b', 5, expect.stringMatching(/^tools\[0\]\["a b"\]: is no member of a tool/)],
  ])('a tool whose %s is %s', (member, value, fault) => {
    expect(faultsOf({ tools: [{ ...tool, [member]: value }] })).toEqual([fault]);
  });

  test.each<[string, unknown, string]>([
    [
      'model',
      'claude',
      expect.stringMatching(/^roles\.r\.model: must be provider\/model, with a provider of anthropic, /),
    ],
    ['model', 'acme/x', expect.stringMatching(/^roles\.r\.model: must be provider\/model/)],
    ['system_prompt', 5, 'roles.r.system_prompt: must be a string'],
    ['streaming', 'yes', 'roles.r.streaming: must be true or false'],
    ['tools', 'read_file', 'roles.r.tools: must be a list'],
    ['tools', ['read_file', 'rm'], 'roles.r.tools[1]: there is no tool rm; known are read_file'],
    ['tools', ['a b'], 'roles.r.tools[0]: must be 1 to 64 letters, digits, "_" or "-"'],
    ['max_steps', 0, 'roles.r.max_steps: must be a whole number from 1 to 1000000000'],
    ['max_tokens', 1.5, 'roles.r.max_tokens: must be a whole number from 1 to 1000000000'],
    ['parameters', [], 'roles.r.parameters: must be an object of plain JSON'],
    ['parameters', { n: 2, stream: true }, 'roles.r.parameters: stream, n cannot be set here'],
    ['mode', 'plan', "roles.r.mode: is not built yet, but for 'act'"],
    ['mcp_servers', ['x'], 'roles.r.mcp_servers: is not built yet'],
    ['compaction', {}, 'roles.r.compaction: is not built yet'],
    ['context_limit', 5, 'roles.r.context_limit: is not built yet'],
    ['approval', [], 'roles.r.approval: is not built yet'],
    ['prompt', 'x', expect.stringMatching(/^roles\.r\.prompt: is no member of a role/)],
  ])('a role whose %s is %j', (member, value, fault) => {
    expect(faultsOf({ tools: [tool], roles: { r: { [member]: value } } })).toEqual([fault]);
  });

  test.each<[string, unknown, string[]]>([
    ['no object', null, ['must be a plain object']],
    ['a list', [], ['must be a plain object']],
    ['a promise', Promise.resolve({}), ['must be a plain object']],
    ['tools by name', { tools: { a: tool } }, ['tools: must be a list']],
    [
      'no tool',
      { tools: [null, 'x'] },
      ['tools[0]: must be a plain object', 'tools[1]: must be a plain object'],
    ],
    ['a hole', { tools: [undefined, tool] }, ['tools[0]: is missing']],
    ['two of a name', { tools: [tool, tool] }, ['tools[1].name: another tool is named read_file']],
    ['roles in a list', { roles: [] }, ['roles: must be a plain object']],
    ['roles in a map', { roles: new Map() }, ['roles: must be a plain object']],
    [
      'a role of no name',
      { roles: { 'a b': {} } },
      ['roles["a b"]: must be 1 to 64 letters, digits, "_" or "-"'],
    ],
    ['no role', { roles: { r: 'x' } }, ['roles.r: must be a plain object']],
    [
      'a tool where there is none',
      { roles: { r: { tools: ['x'] } } },
      ['roles.r.tools[0]: there is no tool x; there are none'],
    ],
    ['servers', { mcp_servers: {} }, ['mcp_servers: is not built yet']],
    [
      'a limit out of range',
      { limits: { tool_result: 0 } },
      ['limits.tool_result: must be a whole number from 100 to 10000000'],
    ],
    [
      'an unknown limit',
      { limits: { barren_claims: 3 } },
      [
        'limits.barren_claims: is no member of limits; known are queued_inputs, max_steps, tool_result, tool_timeout_ms',
      ],
    ],
    [
      'an unknown member',
      { tool: [] },
      ['tool: is no member of the configuration; known are tools, roles, limits'],
    ],
  ])('%s', (_, config, faults) => {
    expect(faultsOf(config)).toEqual(faults);
  });

  test('all its faults are told at once, a broken tool not again by its roles', () => {
    expect(
      faultsOf({
        tools: [{ ...tool, effect: 'x', execute: 1 }],
        roles: { r: { tools: ['read_file'], model: 'x' } },
        limits: 3,
      }),
    ).toEqual([
      'tools[0].effect: must be none, idempotent or once',
      'tools[0].execute: must be a function',
      expect.stringContaining('roles.r.model'),
      'limits: must be a plain object',
    ]);
  });
});
