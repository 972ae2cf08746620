// The MCP servers of the config file.
import { describe, expect, test } from 'vitest';
import { parseConfigFile } from '../../../src/tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../../../src/tools/packages/secrets.ts';
import { faultyTool } from '../faulty-tool.ts';

function faultsOf(config: unknown): string[] {
  const parsed = parseConfigFile(config, PLACEHOLDERS);
  return parsed.ok ? [] : parsed.faults;
}

describe('servers', () => {
  test('are read, with defaults', () => {
    const parsed = parseConfigFile(
      {
        mcp_servers: {
          files: {
            command: 'npx',
            args: ['-y', 'server', '/data'],
            env: { A: 'b' },
            cwd: '/x',
            tools: ['read*'],
            approval: 'never',
          },
          remote: {
            url: 'https://example.org/mcp',
            headers: { authorization: 'Bearer x' },
            elicitation: 'defaults',
            timeout_ms: 900_000,
          },
        },
        roles: { reader: { mcp_servers: ['files'] } },
      },
      PLACEHOLDERS,
    );
    expect(parsed.ok && Object.fromEntries(parsed.settings.mcpServers)).toEqual({
      files: {
        name: 'files',
        scope: 'shared',
        idleTimeoutMs: 600_000,
        maxInstances: 100,
        reach: { kind: 'stdio', command: 'npx', args: ['-y', 'server', '/data'], env: { A: 'b' }, cwd: '/x' },
        allow: ['read*'],
        approval: 'never',
        elicitation: 'decline',
        sendsCaller: true,
        startTimeoutMs: 20_000,
        timeoutMs: 60_000,
        maxTimeoutMs: 600_000,
      },
      remote: {
        name: 'remote',
        scope: 'shared',
        idleTimeoutMs: 600_000,
        maxInstances: 100,
        reach: { kind: 'http', url: 'https://example.org/mcp', headers: { authorization: 'Bearer x' } },
        allow: null,
        approval: null,
        elicitation: 'defaults',
        sendsCaller: true,
        startTimeoutMs: 20_000,
        timeoutMs: 900_000,
        maxTimeoutMs: 900_000,
      },
    });
    expect(parsed.ok && parsed.settings.roles.get('reader')).toEqual({ mcp_servers: ['files'] });
  });

  test.each([
    ['neither', {}, 'mcp_servers.s: needs either command or url.'],
    ['both', { command: 'a', url: 'http://b' }, 'mcp_servers.s: has both command and url; use only one.'],
    ['an empty command', { command: ' ' }, 'mcp_servers.s.command: must be a non-empty string.'],
    ['a command line', { command: ['a', 'b'] }, 'mcp_servers.s.command: must be a non-empty string, not a list.'],
    ['arguments that are none', { command: 'a', args: [1] }, 'mcp_servers.s.args[0]: must be a string, not a number.'],
    [
      'an environment of numbers',
      { command: 'a', env: { N: 1 } },
      'mcp_servers.s.env.N: must be a string, not a number.',
    ],
    [
      'instances of a shared server',
      { command: 'a', max_instances: 3 },
      'mcp_servers.s.max_instances: is only for servers with the scope tenant or context.',
    ],
    ['headers of a process', { command: 'a', headers: {} }, 'mcp_servers.s.headers: is only for servers with a url.'],
    [
      'an environment of an address',
      { url: 'http://a', env: {} },
      'mcp_servers.s.env: is only for servers with a command.',
    ],
    ['another scheme', { url: 'file:///etc' }, 'mcp_servers.s.url: must be an http or https URL, without a user name.'],
    ['a password', { url: 'http://a:b@c' }, 'mcp_servers.s.url: must be an http or https URL, without a user name.'],
    [
      'a broken header',
      { url: 'http://a', headers: { 'x y': 'z' } },
      'mcp_servers.s.headers: contains an invalid header name or value.',
    ],
    [
      'an approval of another kind',
      { command: 'a', approval: 'ask' },
      'mcp_servers.s.approval: must be never, always or deny, not "ask".',
    ],
    [
      'no time',
      { command: 'a', timeout_ms: 0 },
      'mcp_servers.s.timeout_ms: must be a whole number from 1 to 2147483647, not 0.',
    ],
    [
      'a maximum below the rest',
      { command: 'a', timeout_ms: 5, max_timeout_ms: 4 },
      'mcp_servers.s.max_timeout_ms: must not be less than timeout_ms.',
    ],
    [
      'another member',
      { command: 'a', shell: true },
      'Unknown field `mcp_servers.s.shell`. Known fields: command, args, env, cwd, url, headers, scope, idle_timeout_ms, max_instances, tools, approval, elicitation, send_caller, start_timeout_ms, timeout_ms, max_timeout_ms.',
    ],
  ])('with %s are refused', (_, server, message) => {
    expect(faultsOf({ mcp_servers: { s: server } })).toEqual([message]);
  });

  test.each(['a__b', 'a_', 'a b', 'x'.repeat(33)])('are not named %s', (name) => {
    expect(faultsOf({ mcp_servers: { [name]: { command: 'a' } } })).toEqual([
      expect.stringContaining('the name must be 1 to 32 letters'),
    ]);
  });

  test('have exclusive names for their tools', () => {
    const tools = [faultyTool({ name: 'files__read' }), faultyTool({ name: 'other__read' })];
    expect(faultsOf({ tools, mcp_servers: { files: { command: 'a' } } })).toEqual([
      'tools[0].name: names that start with files__ are reserved for the tools of the MCP server files.',
    ]);
  });

  test('that a role names must exist', () => {
    const roles = { r: { mcp_servers: ['files', 'fils'] } };
    expect(faultsOf({ roles, mcp_servers: { files: { command: 'a' } } })).toEqual([
      'roles.r.mcp_servers[1]: no MCP server has the name "fils". Known servers: files.',
    ]);
  });
});
