// What a client is shown of a worker's settings is what its run uses, whatever the config and the role are.
import {
  array,
  assert,
  asyncProperty,
  constantFrom,
  integer,
  option,
  property,
  record,
  type Arbitrary,
} from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ALL_ALLOWED } from '../../src/core/workers/allowed-names.ts';
import type { Allow } from '../../src/core/access/tenant.ts';
import { ASKING_DEFAULTS, ruleOn } from '../../src/core/run/policy.ts';
import type { Effective } from '../../src/core/workers/explained.ts';
import type { Role, Settings, WorkerConfig } from '../../src/core/workers/settings.ts';
import {
  effectiveLimits,
  limitsOf,
  limitValues,
  narrowed,
  WORKER_LIMITS,
} from '../../src/core/workers/worker-limits.ts';
import { PROVIDERS } from '../../src/core/model/model.ts';
import type { Catalog } from '../../src/tools/registry/catalog.ts';
import { explain } from '../../src/tools/registry/explain.ts';
import { createRegistry } from '../../src/tools/registry/registry.ts';
import { NO_SERVERS } from '../../src/tools/registry/servers.ts';
import { resolve } from '../../src/tools/registry/settings.ts';
import { createToolRunner } from '../../src/tools/run/execute.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { call } from './invoke.ts';
import { toTool } from './to-tool.ts';

const APPROVED = ['never', 'always', 'deny'] as const;
const schema = { type: 'object' } as const;
const tools = [
  ...APPROVED.map((approval) =>
    toTool({
      name: `tool_${approval}`,
      description: 'x',
      effect: 'once',
      approval,
      input_schema: schema,
      execute: () => '',
    }),
  ),
  toTool({ name: 'peek', description: 'x', effect: 'none', input_schema: schema, execute: () => '' }),
  toTool({
    name: 'asks',
    description: 'x',
    effect: 'once',
    approval: () => 'always',
    input_schema: schema,
    execute: () => '',
  }),
];
const ofServer = toTool({
  name: 'files__read',
  description: 'x',
  effect: 'none',
  input_schema: schema,
  execute: () => '',
});

const FILE_ROLE: Role = {
  model: 'openai/file',
  tools: ['peek', 'tool_always'],
  parameters: { secret_mode: 1 },
  max_steps: 3,
};

const registry = createRegistry(tools);
const catalog: Catalog = {
  roles: new Map([['file', FILE_ROLE]]),
  registry,
  servers: {
    ...NO_SERVERS,
    names: ['files', 'away'],
    offer: (name) =>
      name === 'files'
        ? { kind: 'tools', tools: [ofServer.descriptor] }
        : name === 'away'
          ? { kind: 'starting' }
          : null,
    get: (name) => (name === 'files__read' ? ofServer : undefined),
  },
  providers: new Set(PROVIDERS),
  asking: ASKING_DEFAULTS,
  parameters: ['allowed'],
  defaults: { model: 'simulated/default', max_steps: 50 },
};

const INSTALLATION = {
  origins: { model: 'environment', max_steps: 'config_file' },
  limits: limitsOf(WORKER_LIMITS, { depth: 'config_file' }),
} as const;

/** The name of a role of the API. */
const ROLE = 'stored';

const show = (
  config: WorkerConfig,
  from: string | Role | null,
  own: 'worker' | 'role' = 'worker',
  allow = ALL_ALLOWED,
) => explain({ config, role: typeof from === 'string' ? from : ROLE, from, own, allow }, catalog, INSTALLATION);

function shown(...given: Parameters<typeof show>): Effective {
  const found = show(...given);
  if (found === null) throw new Error('Nothing was found.');
  return found;
}

const some = <Value>(value: Arbitrary<Value>) => option(value, { nil: undefined });
const NAMES = [...tools.map(({ descriptor }) => descriptor.name), 'mine'];
const configs: Arbitrary<WorkerConfig> = record({
  model: some(constantFrom('anthropic/a', 'openai/b', 'simulated/c')),
  streaming: some(constantFrom(true, false)),
  system_prompt: some(constantFrom('', 'Be short.')),
  mode: some(constantFrom('act', 'plan')),
  tools: some(array(constantFrom(...NAMES.slice(0, -1)), { maxLength: 4 })),
  client_tools: some(
    array(
      constantFrom('mine', 'peek').map((name) => ({ name, description: 'x', input_schema: schema })),
      { maxLength: 1 },
    ),
  ),
  mcp_servers: some(constantFrom([], ['files'])),
  approval: some(
    array(record({ tool: constantFrom('*', 'tool_*', 'peek', 'mine'), decision: constantFrom(...APPROVED) }), {
      maxLength: 3,
    }),
  ),
  max_tokens: some(integer({ min: 1, max: 9 })),
  context_limit: some(integer({ min: 1_000, max: 9_000 })),
  compaction: some(record({ type: constantFrom('llm', 'none'), keep_turns: integer({ min: 0, max: 3 }) })),
  pinned: some(constantFrom([{ title: 't', text: 'x' }])),
  max_steps: some(integer({ min: 1, max: 9 })),
  output_schema: some(constantFrom<false | { type: string }>(false, { type: 'string' })),
  output_retries: some(integer({ min: 0, max: 5 })),
  parameters: some(constantFrom({ top_p: 1 }, { allowed: 1, top_k: 2 })),
}).map((config) => Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)));

const roles = constantFrom<'file' | null>('file', null).chain((named) => some(configs).map((role) => role ?? named));
const allows = constantFrom<Allow>(ALL_ALLOWED, { tools: ['tool_*', 'mine'] }, { mcp_servers: [] });

/** The settings of a run, in the form in which they are shown. */
const values = ({ settings, approval, tools: listed }: Effective) => ({
  ...Object.fromEntries(Object.entries(settings).map(([name, { value }]) => [name, value])),
  approval: approval.map(({ tool, decision }) => ({ tool, decision })),
  offered: listed.filter(({ state }) => state === 'offered').map(({ name }) => name),
});

const used = (settings: Settings) => ({
  model: `${settings.model.provider}/${settings.model.model}`,
  streaming: settings.streaming,
  system_prompt: settings.systemPrompt,
  mode: settings.mode,
  max_tokens: settings.maxTokens,
  context_limit: settings.contextLimit,
  compaction: {
    type: settings.compaction.type,
    threshold: settings.compaction.threshold,
    keep_turns: settings.compaction.keepTurns,
    model: settings.compaction.model,
  },
  pinned: settings.pinned,
  max_steps: settings.maxSteps,
  output_schema: settings.outputSchema,
  output_retries: settings.outputRetries,
  parameters: settings.parameters,
  approval: settings.asking.rules,
  offered: settings.tools.map(({ name }) => name),
});

describe('what is shown of a worker', () => {
  test('is what its run uses, whatever its config, its role and its tenant are', () => {
    assert(
      property(configs, roles, allows, (config, from, allow) => {
        const serving = resolve(config, from, catalog, { caller: null, role: null, allow });
        if (serving.kind !== 'served') throw new Error(`The run is ${serving.kind}.`);
        expect(values(shown(config, from, 'worker', allow))).toMatchObject(used(serving.settings));
      }),
      { numRuns: 500 },
    );
  });

  test('says why its jobs are refused: as a run refuses them, and only then', () => {
    const limited = constantFrom<Allow>(
      ALL_ALLOWED,
      { models: ['openai/*'] },
      { models: ['anthropic/*', 'simulated/*'] },
      { roles: ['file'] },
      { models: ['simulated/*'], roles: [ROLE] },
    );
    const summarised = record({ type: constantFrom('llm', 'none'), model: constantFrom('openai/s', 'simulated/s') });
    const given = record({ config: configs, compaction: some(summarised) }).map(({ config, compaction }) =>
      compaction === undefined ? config : { ...config, compaction },
    );
    const seen = new Set<string>();
    assert(
      property(given, roles, limited, (config, from, allow) => {
        const role = typeof from === 'string' ? from : ROLE;
        const serving = resolve(config, from, catalog, { caller: null, role, allow });
        seen.add(serving.kind);
        const message = serving.kind === 'not_allowed' ? serving.message : null;
        expect(shown(config, from, 'worker', allow).notAllowed).toBe(message);
      }),
      { numRuns: 500 },
    );
    expect([...seen].sort()).toEqual(['not_allowed', 'served']);
  });

  test('has the approval of each tool as a run judges its calls', async () => {
    const runner = createToolRunner(registry, { limits: LIMITS });
    await assert(
      asyncProperty(configs, roles, async (config, from) => {
        const { tools: listed, approval: rules } = shown(config, from);
        for (const { name, field, approval, rule } of listed) {
          if (field !== 'tools') continue;
          const judged = await runner.judge(call(name, {}), ruleOn(rules, name));
          const isOpen = approval === 'by_call';
          expect(isOpen ? 'always' : approval).toBe(judged);
          if (rule !== null) expect(rule.decision).toBe(isOpen ? 'always' : approval);
        }
      }),
    );
  });

  test('says of an own value what applies without it: what is shown of the worker without this value', () => {
    assert(
      property(configs, roles, (config, from) => {
        for (const [member, { value: _, source, inherited }] of Object.entries(shown(config, from).settings)) {
          const isOwn = Object.hasOwn(config, member);
          expect([member, source === 'worker', inherited !== null]).toEqual([member, isOwn, isOwn]);
          if (!isOwn) continue;
          const without = Object.fromEntries(Object.entries(config).filter(([name]) => name !== member));
          const then = Object.entries(shown(without, from).settings).find(([name]) => name === member)?.[1];
          expect(inherited).toEqual({ value: then?.value, source: then?.source });
        }
      }),
    );
  });

  test('names the layer of each value', () => {
    const { settings, approval } = shown(
      { mode: 'plan', approval: [{ tool: 'peek', decision: 'never' }] },
      { model: 'anthropic/a', approval: [{ tool: '*', decision: 'always' }] },
    );
    expect(settings.mode).toEqual({ value: 'plan', source: 'worker', inherited: { value: 'act', source: 'default' } });
    expect(settings.model).toEqual({ value: 'anthropic/a', source: 'role', inherited: null });
    expect(settings.context_limit).toEqual({ value: 200_000, source: 'provider', inherited: null });
    expect(settings.max_steps).toEqual({ value: 50, source: 'config_file', inherited: null });
    expect(settings.max_tokens).toEqual({ value: null, source: 'default', inherited: null });
    expect(shown({}, null).settings.model).toEqual({
      value: 'simulated/default',
      source: 'environment',
      inherited: null,
    });
    expect(approval.map(({ tool, source }) => [tool, source])).toEqual([
      ['peek', 'worker'],
      ['*', 'role'],
    ]);
  });

  test('of a role alone has what applies without its own values', () => {
    const { settings, tools: listed } = shown({}, 'file', 'role');
    expect(settings.model).toEqual({
      value: 'openai/file',
      source: 'role',
      inherited: { value: 'simulated/default', source: 'environment' },
    });
    expect(settings.parameters.value).toEqual({ secret_mode: 1 });
    expect(listed.map(({ name, source, approval, rule }) => [name, source, approval, rule])).toEqual([
      ['peek', 'role', 'never', null],
      ['tool_always', 'role', 'always', null],
    ]);
  });

  test('lists tools that the model does not get, with the reason, and servers whose tools are unknown', () => {
    const config: WorkerConfig = {
      mode: 'plan',
      tools: ['peek', 'tool_never', 'asks', 'gone'],
      mcp_servers: ['files', 'away'],
      client_tools: [{ name: 'mine', description: 'x', input_schema: schema }],
      approval: [{ tool: 'a*', decision: 'always' }],
    };
    const rule = { tool: 'a*', decision: 'always', source: 'worker' };
    const allow = { tools: ['peek', 'tool_*', 'gone', 'files__*'] };
    const { tools: listed, unknownServers } = shown(config, null, 'worker', allow);
    expect(
      listed.map(({ name, field, state, approval, rule: decides }) => [name, field, state, approval, decides]),
    ).toEqual([
      ['asks', 'tools', 'not_allowed', 'by_call', rule],
      ['files__read', 'mcp_servers', 'offered', 'never', null],
      ['gone', 'tools', 'unknown', 'never', null],
      ['mine', 'client_tools', 'plan_mode', 'never', null],
      ['peek', 'tools', 'offered', 'never', null],
      ['tool_never', 'tools', 'plan_mode', 'never', null],
    ]);
    expect(unknownServers).toEqual(['away']);
  });

  test('is nothing for a role that this process does not know, and for a model without a known provider', () => {
    expect(show({}, 'of-another-process')).toBeNull();
    expect(show({ model: 'unknown' }, null)).toBeNull();
  });
});

describe('limits below a worker', () => {
  const limit = record({
    depth: some(integer({ min: 0, max: 20 })),
    workers: some(integer({ min: 0, max: 20_000 })),
  }).map((limits) => Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)));

  test('are the lowest of all layers, from the first that has it', () => {
    assert(
      property(limit, limit, (role, worker) => {
        const found = effectiveLimits(INSTALLATION.limits, role, worker);
        expect(limitValues(found)).toEqual(narrowed(narrowed(WORKER_LIMITS, role), worker));
      }),
    );
    expect(effectiveLimits(INSTALLATION.limits, { depth: 2, workers: 7 }, { depth: 5, workers: 6 })).toEqual({
      depth: { value: 2, source: 'role' },
      children: { value: WORKER_LIMITS.children, source: 'default' },
      workers: { value: 6, source: 'worker' },
    });
  });
});
