import { describe, expect, test } from 'vitest';
import type { ProviderName } from '../../src/core/model.ts';
import { published } from '../../src/tools/catalog.ts';
import type { Catalog } from '../../src/tools/catalog.ts';
import { toTool } from '../../src/tools/parse-tool.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { resolve } from '../../src/tools/settings.ts';
import { faultyTool } from './faulty-tool.ts';

const tools = ['write', 'read', 'B'].map((name) => toTool(faultyTool({ name, effect: 'idempotent' })));

const catalog: Catalog = {
  roles: new Map([
    [
      'coder',
      { model: 'anthropic/claude', tools: ['read', 'write'], max_steps: 9, parameters: { a: 1, b: 1 } },
    ],
    ['lost', { tools: ['read', 'gone'], model: 'openai/gpt' }],
  ]),
  registry: createRegistry(tools),
  providers: new Set<ProviderName>(['simulated', 'anthropic']),
  defaults: { model: 'simulated/echo', max_steps: 100, system_prompt: 'Be good.' },
};

describe('settings', () => {
  test('are the defaults where nothing is said', () => {
    expect(resolve({}, null, catalog)).toEqual({
      kind: 'served',
      settings: {
        model: { provider: 'simulated', model: 'echo' },
        streaming: true,
        systemPrompt: 'Be good.',
        tools: [],
        maxTokens: null,
        maxSteps: 100,
        parameters: {},
      },
    });
  });

  test('are the config over the role over the defaults, member by member', () => {
    const config = { max_tokens: 5, streaming: false, parameters: { b: 2 } };
    expect(resolve(config, 'coder', catalog)).toMatchObject({
      kind: 'served',
      settings: {
        model: { provider: 'anthropic', model: 'claude' },
        streaming: false,
        systemPrompt: 'Be good.',
        tools: [{ name: 'read', effect: 'idempotent', on_unknown: 'tell' }, { name: 'write' }],
        maxTokens: 5,
        maxSteps: 9,
        parameters: { b: 2 },
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

  test('hold each tool once, sorted by code unit', () => {
    expect(resolve({ tools: ['write', 'read', 'B', 'read'] }, null, catalog)).toMatchObject({
      settings: { tools: [{ name: 'B' }, { name: 'read' }, { name: 'write' }] },
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
  ])('that cannot be had are named: %j as %s', (config, role, missing) => {
    expect(resolve(config, role, catalog)).toEqual({ kind: 'unserved', missing });
  });
});

describe('a registry', () => {
  test('knows its tools by name, and refuses two of a name', () => {
    const { registry } = catalog;
    expect(registry.names).toEqual(['B', 'read', 'write']);
    expect(registry.describe('read')).toMatchObject({ name: 'read', effect: 'idempotent' });
    expect([registry.get('x'), registry.describe('toString')]).toEqual([undefined, undefined]);
    expect(() => createRegistry([...tools, ...tools])).toThrow('Two tools are named write.');
  });

  test('refuses in code what the file would be refused for', () => {
    expect(() => toTool({ ...faultyTool(), name: '' })).toThrow('Not a tool: name: must be');
  });
});

describe('what is published', () => {
  test('is sorted', () => {
    expect(published(catalog)).toEqual({
      tools: ['B', 'read', 'write'],
      roles: ['coder', 'lost'],
      models: ['anthropic', 'simulated'],
    });
  });
});
