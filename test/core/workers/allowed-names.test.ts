// What a tenant may use: the lists of the operator, and the names in a config.
import { describe, expect, test } from 'vitest';
import type { Allow } from '../../../src/core/access/tenant.ts';
import {
  ALL_ALLOWED,
  allowedOf,
  disallowedIn,
  isAllowed,
  notAllowed,
  type AllowKind,
} from '../../../src/core/workers/allowed-names.ts';

describe('a name is allowed', () => {
  test.each<[Allow, AllowKind, string, boolean]>([
    [{}, 'models', 'openai/gpt', true],
    [{ tools: [] }, 'models', 'openai/gpt', true],
    [{ models: [] }, 'models', 'openai/gpt', false],
    [{ models: ['*'] }, 'models', 'openai/gpt', true],
    [{ models: ['openai/*'] }, 'models', 'openai/gpt', true],
    [{ models: ['openai/*'] }, 'models', 'openai-chat/gpt', false],
    [{ models: ['openai/gpt'] }, 'models', 'openai/gpt-mini', false],
    [{ models: ['*/gpt-*-mini'] }, 'models', 'openai/gpt-6-mini', true],
    [{ models: ['openai/gpt'] }, 'models', 'OpenAI/gpt', false],
    // A dot is a dot: patterns are no regular expressions.
    [{ models: ['openai/gpt.4'] }, 'models', 'openai/gptx4', false],
    [{ roles: ['code*', 'writer'] }, 'roles', 'writer', true],
    [{ roles: ['code*', 'writer'] }, 'roles', 'writers', false],
    [{ tools: ['read_*'] }, 'tools', 'read_file', true],
    [{ tools: ['read_*'] }, 'tools', 'run_command', false],
    [{ mcp_servers: ['files'] }, 'mcp_servers', 'files', true],
    [{ mcp_servers: ['files'] }, 'mcp_servers', 'mail', false],
  ])('%j: %s %s → %s', (allow, kind, name, expected) => {
    expect(isAllowed(allow, kind, name)).toBe(expected);
  });

  test.each<[Allow, boolean]>([
    [{}, true],
    [{ mcp_servers: ['files'] }, true],
    [{ mcp_servers: [] }, false],
    [{ tools: ['files__*'] }, true],
    [{ tools: ['read'] }, false],
    [{ tools: ['*'], mcp_servers: ['mail'] }, false],
    [{ tools: ['read'], mcp_servers: ['files'] }, false],
  ])('as a tool of an MCP server only together with its server: %j → %s', (allow, expected) => {
    expect(isAllowed(allow, 'tools', 'files__read')).toBe(expected);
  });

  test('in its place among others', () => {
    expect(allowedOf({ tools: ['b', 'a*'] }, 'tools', ['b', 'c', 'ab'])).toEqual(['b', 'ab']);
  });
});

describe('a config', () => {
  const config = {
    model: 'openai/gpt',
    tools: ['read', 'run', 'files__read'],
    mcp_servers: ['files', 'mail'],
    compaction: { model: 'openai/small' },
  };

  test('names nothing that is not allowed where no list is set', () => {
    expect(disallowedIn(ALL_ALLOWED, config)).toEqual([]);
    expect(disallowedIn({ models: [], tools: [], mcp_servers: [], roles: [] }, {})).toEqual([]);
  });

  test('is refused by member', () => {
    const allow = { models: ['anthropic/*'], tools: ['read', 'files__*'], mcp_servers: ['mail'] };
    expect(disallowedIn(allow, config)).toEqual([
      { kind: 'models', at: ['model'], names: ['openai/gpt'] },
      { kind: 'models', at: ['compaction', 'model'], names: ['openai/small'] },
      { kind: 'tools', at: ['tools'], names: ['run', 'files__read'] },
      { kind: 'mcp_servers', at: ['mcp_servers'], names: ['files'] },
    ]);
  });
});

describe('the message', () => {
  test.each<[Allow, AllowKind, string[], string]>([
    [{ models: ['a/*', 'b/c'] }, 'models', ['d/e'], 'the model "d/e" for this tenant. Allowed models: a/*, b/c.'],
    [{ tools: [] }, 'tools', ['run', 'rm'], 'the tools "run", "rm" for this tenant. Allowed tools: none.'],
    [
      { tools: ['*'], mcp_servers: ['mail'] },
      'tools',
      ['files__read'],
      'the tool "files__read" for this tenant. Allowed tools: *. Allowed MCP servers: mail.',
    ],
    [{ mcp_servers: [] }, 'mcp_servers', ['x'], 'the MCP server "x" for this tenant. Allowed MCP servers: none.'],
  ])('of %j', (allow, kind, names, text) => {
    expect(notAllowed(allow, kind, names)).toBe(`The operator does not allow ${text}`);
  });

  test('stays short', () => {
    const names = Array.from({ length: 500 }, (_, n) => `${n}${'x'.repeat(200)}`);
    const text = notAllowed({ roles: names }, 'roles', names);
    expect(text).toContain('and 490 more');
    expect(text.length).toBeLessThan(2_500);
  });
});
