// A tool as its server describes it, converted to a tool of ours: its name, its effect, whether it needs approval, its
// result.
import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { toReply } from '../../../src/tools/mcp/calls/to-reply.ts';
import { toTool } from '../../../src/tools/mcp/calls/to-tool.ts';
import { serverOf } from '../../../src/core/tools/mcp-tool-name.ts';
import { isServerName, toolName } from '../../../src/tools/mcp/calls/names.ts';
import type { ServerSettings } from '../../../src/tools/mcp/settings/server-settings.ts';

const SETTINGS: ServerSettings = {
  name: 'files',
  scope: 'shared',
  idleTimeoutMs: 4,
  maxInstances: 5,
  reach: { kind: 'stdio', command: 'x', args: [], env: {}, cwd: null },
  allow: null,
  approval: null,
  elicitation: 'decline',
  sendsCaller: true,
  startTimeoutMs: 1,
  timeoutMs: 2,
  maxTimeoutMs: 3,
};

const made = (described: Partial<McpTool>, settings: Partial<ServerSettings> = {}) =>
  toTool({ ...SETTINGS, ...settings }, { name: 'read', inputSchema: { type: 'object' }, ...described }, async () => ({
    content: '',
  }));

describe('the name of a tool', () => {
  test.each([
    ['read_file', 'files__read_file'],
    ['trigger-it', 'files__trigger-it'],
    ['a.b', /^files__a_b_[0-9a-f]{8}$/],
    ['a/b', /^files__a_b_[0-9a-f]{8}$/],
    ['lösche', /^files__l_sche_[0-9a-f]{8}$/],
    ['x'.repeat(57), `files__${'x'.repeat(57)}`],
    ['x'.repeat(58), /^files__x{48}_[0-9a-f]{8}$/],
  ])('%s', (own, name) => {
    const given = toolName('files', own);
    expect(given).toMatch(name);
    expect(given).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(serverOf(given)).toBe('files');
  });

  test('differs between tools', () => {
    const names = ['a.b', 'a/b', 'a_b', 'x'.repeat(70), `${'x'.repeat(69)}y`].map((own) => toolName('files', own));
    expect(new Set(names).size).toBe(5);
  });

  test.each(['read_file', '__read', ''])('%s is no tool of a server', (name) => {
    expect(serverOf(name)).toBeNull();
  });

  test.each([
    ['files', true],
    ['my-files_2', true],
    ['a__b', false],
    ['a_', false],
    ['a b', false],
    ['', false],
    ['x'.repeat(33), false],
  ])('a server may be named %j: %s', (name, may) => {
    expect(isServerName(name)).toBe(may);
  });
});

describe('annotations', () => {
  test.each([
    ['none: it may destroy something, each time again', undefined, 'once', 'always'],
    ['empty', {}, 'once', 'always'],
    ['reads', { readOnlyHint: true }, 'none', 'never'],
    ['reads, and says nonsense', { readOnlyHint: true, destructiveHint: true }, 'none', 'never'],
    ['adds', { destructiveHint: false }, 'once', 'never'],
    ['adds, the same again', { destructiveHint: false, idempotentHint: true }, 'idempotent', 'never'],
    ['replaces', { destructiveHint: true, idempotentHint: true }, 'idempotent', 'always'],
  ])('%s', (_, annotations, effect, approval) => {
    const one = made(annotations === undefined ? {} : { annotations });
    expect(one).toMatchObject({ kind: 'tool', tool: { descriptor: { effect }, approval, timeoutMs: 3 } });
  });

  test.each(['never', 'always', 'deny'] as const)("the operator's %s overrides them", (approval) => {
    for (const readOnlyHint of [true, false]) {
      expect(made({ annotations: { readOnlyHint } }, { approval })).toMatchObject({ tool: { approval } });
    }
  });
});

describe('a tool that is left out', () => {
  test.each([
    ['since it is not on the list', {}, { allow: ['write*'] }, 'it is not in the tools setting of the server'],
    ['since it is a task', { execution: { taskSupport: 'required' as const } }, {}, 'it can only be called as a task'],
    [
      'since its schema is none',
      { inputSchema: { type: 'object' as const, properties: { a: { type: 'nothing' } } } },
      {},
      /^its input schema is invalid: /,
    ],
  ])('%s', (_, described, settings, why) => {
    expect(made(described, settings)).toEqual({ kind: 'left', own: 'read', why: expect.stringMatching(why) });
  });

  test('is reached by none of its names', () => {
    expect(made({ name: 'write_all' }, { allow: ['write*'] })).toMatchObject({ kind: 'tool' });
  });
});

describe('a description', () => {
  test.each([
    [{ description: 'Reads.' }, 'Reads.'],
    [{ title: 'Reading' }, 'Reading'],
    [{ description: ' ' }, 'read'],
  ])('%j', (described, description) => {
    expect(made(described)).toMatchObject({ tool: { descriptor: { description } } });
  });

  test('without a limit is cut', () => {
    const one = made({ description: 'x'.repeat(100_000) });
    expect(one.kind === 'tool' && one.tool.descriptor.description.length).toBeLessThan(11_000);
  });
});

describe('a result', () => {
  const reply = (result: Partial<CallToolResult>) => toReply({ content: [], ...result });
  const image = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' };
  const block = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

  test('keeps its text and images, in order', () => {
    expect(reply({ content: [{ type: 'text', text: 'a' }, image] })).toEqual({
      content: [{ type: 'text', text: 'a' }, block],
      is_error: false,
    });
  });

  test('is an error where the server marks it so', () => {
    expect(reply({ isError: true, content: [{ type: 'text', text: 'a' }] })).toMatchObject({
      is_error: true,
    });
  });

  test('that is only structured is its JSON', () => {
    expect(reply({ structuredContent: { n: 1 } })).toMatchObject({ content: '{"n":1}' });
    expect(reply({ structuredContent: { n: 1 }, content: [{ type: 'text', text: 'one' }] })).toMatchObject({
      content: [{ type: 'text', text: 'one' }],
    });
    expect(reply({})).toMatchObject({ content: '' });
  });

  test.each([
    [
      { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      { type: 'text', text: '(Audio of type audio/wav was omitted.)' },
    ],
    [
      { type: 'resource_link', uri: 'file:///a', name: 'a', description: 'the first' },
      { type: 'text', text: 'Resource file:///a: a: the first' },
    ],
    [
      { type: 'resource', resource: { uri: 'file:///a', text: 'words' } },
      { type: 'text', text: 'Resource file:///a:\nwords' },
    ],
    [{ type: 'resource', resource: { uri: 'file:///a', mimeType: 'image/png', blob: 'AAAA' } }, block],
    [
      { type: 'resource', resource: { uri: 'file:///a', blob: 'AAAA' } },
      { type: 'text', text: '(Resource file:///a of unknown type was omitted.)' },
    ],
  ] as const)('%j', (content, part) => {
    expect(reply({ content: [content] })).toEqual({ content: [part], is_error: false });
  });
});
