import { describe, expect, test } from 'vitest';
import { ASKING_DEFAULTS } from '../../src/core/run/policy.ts';
import type { ProviderName } from '../../src/core/model/model.ts';
import { published, type Catalog } from '../../src/tools/registry/catalog.ts';
import { builtInTools } from '../../src/tools/built-in/tools.ts';
import { toTool } from './to-tool.ts';
import { createRegistry } from '../../src/tools/registry/registry.ts';
import { resolve } from '../../src/tools/registry/settings.ts';
import { NO_SERVERS, type Offer } from '../../src/tools/registry/servers.ts';
import type { Role, Serving, WorkerConfig } from '../../src/core/workers/settings.ts';
import type { ContextId, JobId, TenantId } from '../../src/core/ids.ts';
import type { Allow } from '../../src/core/access/tenant.ts';
import { id } from '../core/builders.ts';
import { faultyTool } from './faulty-tool.ts';

const tools = [
  ...['write', 'read', 'B'].map((name) => toTool(faultyTool({ name, effect: 'idempotent' }))),
  toTool(faultyTool({ name: 'peek', effect: 'none' })),
  ...builtInTools(),
];

const ALL = ['B', 'peek', 'read', 'write', ...builtInTools().map(({ descriptor }) => descriptor.name)].toSorted();

const catalog: Catalog = {
  roles: new Map([
    ['coder', { model: 'anthropic/claude', tools: ['read', 'write'], max_steps: 9, parameters: { a: 1, b: 1 } }],
    ['lost', { tools: ['read', 'gone'], model: 'openai/gpt' }],
  ]),
  registry: createRegistry(tools),
  servers: NO_SERVERS,
  providers: new Set<ProviderName>(['simulated', 'anthropic']),
  asking: ASKING_DEFAULTS,
  parameters: [],
  defaults: { model: 'simulated/echo', max_steps: 100, system_prompt: 'Be good.' },
};

const NO_OUTPUT = { outputSchema: null, outputRetries: 2 };

describe('settings', () => {
  test('are the defaults where nothing is set', () => {
    expect(resolve({}, null, catalog)).toEqual({
      kind: 'served',
      settings: {
        model: { provider: 'simulated', model: 'echo' },
        streaming: true,
        systemPrompt: 'Be good.',
        mode: 'act',
        tools: [],
        asking: ASKING_DEFAULTS,
        maxTokens: null,
        contextLimit: 1_000_000,
        compaction: { type: 'threshold', threshold: 0.8, keepTurns: 4, model: null },
        pinned: [],
        maxSteps: 100,
        ...NO_OUTPUT,
        parameters: {},
      },
    });
  });

  test('have the rules on approval of a config before those of its role, and lose none', () => {
    const own = { tool: 'read', decision: 'never' } as const;
    const general = { tool: '*', decision: 'always' } as const;
    expect(resolve({ approval: [own] }, { approval: [general] }, catalog)).toMatchObject({
      settings: { asking: { ...ASKING_DEFAULTS, rules: [own, general] } },
    });
  });

  test('take the limit of prompts completely from the first source that sets it', () => {
    const pinned = [{ title: 'House', text: 'No shoes.' }];
    const role = {
      compaction: { type: 'llm', model: 'anthropic/small' },
      pinned,
      context_limit: 50_000,
    } as const;
    expect(resolve({}, { ...role, pinned }, catalog)).toMatchObject({
      settings: {
        contextLimit: 50_000,
        compaction: {
          type: 'llm',
          threshold: 0.8,
          keepTurns: 4,
          model: { provider: 'anthropic', model: 'small' },
        },
        pinned,
      },
    });
    const config = { compaction: { keep_turns: 1 }, model: 'anthropic/claude' };
    expect(resolve(config, { compaction: role.compaction }, catalog)).toMatchObject({
      settings: { contextLimit: 200_000, compaction: { type: 'threshold', keepTurns: 1, model: null } },
    });
  });

  test('need the provider that summarises, where one is named and used', () => {
    const compaction = { model: 'openai/small' };
    expect(resolve({ compaction: { ...compaction, type: 'llm' } }, null, catalog)).toEqual({
      kind: 'unsupported',
      missing: ['provider openai'],
    });
    expect(resolve({ compaction }, null, catalog).kind).toBe('served');
  });

  test('are the config over the role over the defaults, member by member', () => {
    const config = { max_tokens: 5, streaming: false, parameters: { top_k: 2 } };
    expect(resolve(config, 'coder', catalog)).toMatchObject({
      kind: 'served',
      settings: {
        model: { provider: 'anthropic', model: 'claude' },
        streaming: false,
        systemPrompt: 'Be good.',
        tools: [{ name: 'read', effect: 'idempotent', on_unknown: 'tell' }, { name: 'write' }],
        maxTokens: 5,
        maxSteps: 9,
        parameters: { top_k: 2 },
      },
    });
    expect(resolve({ max_steps: 3 }, { model: 'simulated/api', max_steps: 4 }, catalog)).toMatchObject({
      kind: 'served',
      settings: { model: { model: 'api' }, maxSteps: 3 },
    });
    expect(resolve({ tools: [], model: 'simulated/a/b' }, 'coder', catalog)).toMatchObject({
      settings: { tools: [], model: { provider: 'simulated', model: 'a/b' } },
    });
  });

  test("have parameters of the model's provider, as far as the operator allows or sets them", () => {
    const parameters = {
      temperature: 1,
      thinking: {},
      reasoning: {},
      previous_response_id: 'r',
      service_tier: 'x',
    };
    const of = (config: WorkerConfig, role: string | Role | null, more: string[] = []) => {
      const serving = resolve(config, role, { ...catalog, parameters: more });
      return serving.kind === 'served' ? serving.settings.parameters : null;
    };
    const model = 'anthropic/claude';
    expect(of({ model, parameters }, null)).toEqual({ temperature: 1, thinking: {} });
    expect(of({ model }, { parameters })).toEqual({ temperature: 1, thinking: {} });
    expect(of({ model, parameters }, null, ['service_tier'])).toEqual({
      temperature: 1,
      thinking: {},
      service_tier: 'x',
    });
    expect(of({}, 'coder')).toEqual({ a: 1, b: 1 });
    expect(of({ parameters }, 'coder')).toEqual({ temperature: 1, thinking: {} });
    expect(of({ model: 'simulated/x', parameters }, null)).toEqual(parameters);
  });

  test('have each tool once, sorted by code unit', () => {
    expect(resolve({ tools: ['write', 'read', 'B', 'read'] }, null, catalog)).toMatchObject({
      settings: { tools: [{ name: 'B' }, { name: 'read' }, { name: 'write' }] },
    });
  });

  const locate = { name: 'locate', description: 'd', input_schema: { type: 'object' } };

  test('have the tools of the client among ours, with an unknown effect', () => {
    const config = { tools: ['read', 'ask_user'], client_tools: [locate, { ...locate, name: 'read' }] };
    expect(resolve(config, null, catalog)).toMatchObject({
      settings: {
        tools: [
          { name: 'ask_user', effect: 'none', answered_by: 'person' },
          { ...locate, effect: 'once', answered_by: 'client' },
          { name: 'read', effect: 'idempotent', answered_by: 'tool' },
        ],
      },
    });
  });

  test('of a plan have only tools without effect', () => {
    const config = { mode: 'plan' as const, tools: ['read', 'peek', 'ask_user'], client_tools: [locate] };
    expect(resolve(config, null, catalog)).toMatchObject({
      settings: { mode: 'plan', tools: [{ name: 'ask_user' }, { name: 'peek' }] },
    });
  });

  test.each([
    [{ tools: ['gone', 'read', 'away'] }, null, ['tool away', 'tool gone']],
    [{ model: 'openai/gpt' }, null, ['provider openai']],
    [{ model: 'nothing' }, null, ['model nothing']],
    [{}, 'lost', ['provider openai', 'tool gone']],
    [{ model: 'simulated/x', tools: [] }, 'writer', ['role writer']],
    [{ model: 'openai/x', tools: ['gone'] }, 'writer', ['role writer', 'provider openai', 'tool gone']],
    [{}, '__proto__', ['role __proto__']],
  ])('that are unavailable are named: %j as %s', (config, role, missing) => {
    expect(resolve(config, role, catalog)).toEqual({ kind: 'unsupported', missing });
  });
});

describe('a registry', () => {
  test('knows its tools by name, and refuses two of a name', () => {
    const { registry } = catalog;
    expect(registry.names).toEqual(ALL);
    expect(registry.get('read', null)?.descriptor).toMatchObject({ name: 'read', effect: 'idempotent' });
    expect([registry.get('x', null), registry.get('toString', null)]).toEqual([undefined, undefined]);
    expect(() => createRegistry([...tools, ...tools])).toThrow('Two tools have the name write.');
  });

  test('refuses in code the same errors as in the file', () => {
    expect(() => toTool({ ...faultyTool(), name: '' })).toThrow('Invalid tool: tools[0].name: must be');
  });
});

describe('tools of servers', () => {
  const tool = (name: string) => toTool(faultyTool({ name })).descriptor;
  const served = (offer: Offer) => ({
    ...catalog,
    servers: { ...NO_SERVERS, offer: (name: string) => (name === 'files' ? offer : null) },
  });
  const both: Offer = { kind: 'tools', tools: [tool('files__read'), tool('files__write')] };
  const namesOf = (serving: Serving) => {
    if (serving.kind === 'served') return serving.settings.tools.map(({ name }) => name);
    return serving.kind === 'unsupported' ? serving.missing : serving.message;
  };

  test.each([
    [{ mcp_servers: ['files'] }, ['files__read', 'files__write']],
    [{ mcp_servers: ['files'], tools: ['peek', 'files__read'] }, ['files__read', 'files__write', 'peek']],
    [{ tools: ['files__read'] }, ['files__read']],
    [{ tools: ['files__lost'] }, []],
    [{ mcp_servers: ['other'], tools: ['other__read'] }, ['tool other__read', 'mcp server other']],
  ])('%j', (config, names) => {
    expect(namesOf(resolve(config, null, served(both)))).toEqual(names);
  });

  test('that are still starting are waited for', () => {
    const starting = served({ kind: 'starting' });
    expect(namesOf(resolve({ mcp_servers: ['files'] }, null, starting))).toEqual(['mcp server files']);
    expect(namesOf(resolve({ tools: ['files__read'] }, null, starting))).toEqual(['mcp server files']);
  });
});

describe('what the tenant may not use', () => {
  const files = [toTool(faultyTool({ name: 'files__read' })), toTool(faultyTool({ name: 'files__write' }))];
  const used: string[] = [];
  const withFiles: Catalog = {
    ...catalog,
    servers: {
      ...NO_SERVERS,
      offer: (name) => (name === 'files' ? { kind: 'tools', tools: files.map(({ descriptor }) => descriptor) } : null),
      use: (names) => {
        used.push(...names);
        return true;
      },
    },
  };
  const caller = { tenantId: 5 as TenantId, tenantName: 'acme', contextId: id<ContextId>(1), jobId: id<JobId>(2) };
  const resolved = (
    config: WorkerConfig,
    allow: Allow,
    from: string | Role | null = null,
    role: string | null = null,
  ) => resolve(config, from, withFiles, { caller, role, allow });
  const toolsOf = (serving: Serving) =>
    serving.kind === 'served' ? serving.settings.tools.map(({ name }) => name) : serving;

  test.each<[Allow, string[]]>([
    [{}, ['files__read', 'files__write', 'peek', 'read']],
    [{ tools: ['read', 'files__r*'] }, ['files__read', 'read']],
    [{ mcp_servers: [] }, ['peek', 'read']],
    [{ tools: ['*'], mcp_servers: ['f*'] }, ['files__read', 'files__write', 'peek', 'read']],
    [{ tools: [] }, []],
  ])('is not offered: tools and servers with %j', (allow, offeredTools) => {
    const config = { tools: ['read', 'peek'], mcp_servers: ['files'] };
    expect(toolsOf(resolved(config, allow))).toEqual(offeredTools);
    expect(toolsOf(resolved({}, allow, config))).toEqual(offeredTools);
  });

  test('is neither started nor waited for', () => {
    used.length = 0;
    const config = { tools: ['files__read', 'gone', 'lost__x'], mcp_servers: ['lost'] };
    expect(toolsOf(resolved(config, { tools: ['read'], mcp_servers: [] }))).toEqual([]);
    expect(used).toEqual([]);
  });

  test('is the same list for the same settings, whatever their order', () => {
    const allow = { tools: ['*e*'] };
    const one = resolved({ tools: ['read', 'peek', 'write'] }, allow);
    expect(one).toEqual(resolved({ tools: ['write', 'read', 'peek'] }, allow));
  });

  test('does not run with another model in its place', () => {
    const message =
      'The operator does not allow the model "anthropic/claude" for this tenant. Allowed models: openai/*.';
    expect(resolved({}, { models: ['openai/*'] }, 'coder')).toEqual({
      kind: 'not_allowed',
      message,
      output: NO_OUTPUT,
    });
    // The default model.
    expect(resolved({}, { models: ['anthropic/*'] })).toMatchObject({ kind: 'not_allowed' });
    expect(resolved({}, { models: ['simulated/*'] })).toMatchObject({ kind: 'served' });
  });

  test('does not write summaries', () => {
    const allow = { models: ['simulated/*'] };
    const compaction = { type: 'llm', model: 'anthropic/small' } as const;
    expect(resolved({ compaction }, allow)).toMatchObject({ kind: 'not_allowed' });
    expect(resolved({ compaction: { ...compaction, type: 'threshold' } }, allow)).toMatchObject({
      settings: { compaction: { type: 'threshold', model: null } },
    });
  });

  test('is a role by its name, of the config file or of the API', () => {
    const message = 'The operator does not allow the role "coder" for this tenant. Allowed roles: writer.';
    expect(resolved({}, { roles: ['writer'] }, 'coder', 'coder')).toEqual({
      kind: 'not_allowed',
      message,
      output: NO_OUTPUT,
    });
    expect(resolved({}, { roles: ['writer'] }, { tools: [] }, 'coder')).toEqual({
      kind: 'not_allowed',
      message,
      output: NO_OUTPUT,
    });
    expect(resolved({}, { roles: ['code*'] }, { tools: [] }, 'coder')).toMatchObject({ kind: 'served' });
    expect(resolved({}, { roles: [] })).toMatchObject({ kind: 'served' });
  });

  test('fails before a process that can serve it is waited for', () => {
    expect(resolved({ model: 'openai/gpt' }, { models: [] })).toMatchObject({ kind: 'not_allowed' });
    expect(resolved({}, { roles: [] }, 'unknown', 'unknown')).toMatchObject({ kind: 'not_allowed' });
  });
});

describe('the published names', () => {
  test('are sorted', () => {
    expect(published(catalog)).toEqual({
      tools: ALL,
      roles: ['coder', 'lost'],
      models: ['anthropic', 'simulated'],
      mcpServers: [],
    });
  });
});
