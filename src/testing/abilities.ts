/** What a run in memory can serve: the tools and roles of a config file, and stand-ins for tools. */
import { LIMITS } from '../core/limits.ts';
import type { JsonObject } from '../core/json.ts';
import { PROVIDERS } from '../core/model/model.ts';
import { ASKING_DEFAULTS } from '../core/run/policy.ts';
import { serverOf } from '../core/tools/mcp-tool-name.ts';
import type { ToolRunner } from '../core/tools/tool.ts';
import { ALL_ALLOWED } from '../core/workers/allowed-names.ts';
import type { Settings, WorkerConfig } from '../core/workers/settings.ts';
import { builtInTools } from '../tools/built-in/tools.ts';
import { parseConfigFile, type OperatorSettings } from '../tools/config/parse-config.ts';
import { createRegistry, type Registry } from '../tools/registry/registry.ts';
import { NO_SERVERS, type ToolServers } from '../tools/registry/servers.ts';
import { resolve } from '../tools/registry/settings.ts';
import type { Tool } from '../tools/registry/tool.ts';
import { createToolRunner } from '../tools/run/execute.ts';
import { TestKitError } from './error.ts';
import { memoriesInMemory } from './memory/memories.ts';
import type { StandIn, StandIns } from './stand-ins.ts';

export type Abilities = {
  settings: OperatorSettings;
  registry: Registry;
  runner: ToolRunner;
  /** Throws a `TestKitError` if the role is unknown, or needs what a test does not have. */
  resolve(role: string | null, worker: WorkerConfig): Settings;
};

/** Throws a `TestKitError` with all faults of the config. */
export function abilitiesOf(config: object, standIns: StandIns = {}): Abilities {
  const settings = readConfig(config);
  const limits = { ...LIMITS, asking: ASKING_DEFAULTS, ...settings.limits };
  const known = [...builtInTools({ memories: memoriesInMemory() }), ...settings.tools];
  const registry = createRegistry([
    ...known.map((tool) => withStandIn(tool, standIns[tool.descriptor.name])),
    ...Object.entries(standIns).flatMap(([name, standIn]) =>
      known.some(({ descriptor }) => descriptor.name === name) ? [] : [toolOf(name, standIn)],
    ),
  ]);
  const catalog = {
    roles: settings.roles,
    registry,
    servers: serversOf(registry),
    providers: new Set(PROVIDERS),
    asking: limits.asking,
    parameters: settings.limits.parameters ?? [],
    defaults: { model: 'simulated/test', max_steps: limits.maxSteps },
  };
  return {
    settings,
    registry,
    runner: createToolRunner(registry, { limits }),
    resolve(role, worker) {
      if (role !== null && !settings.roles.has(role)) throw unknownRole(role, [...settings.roles.keys()]);
      const serving = resolve(worker, role, catalog, { caller: null, role, allow: ALL_ALLOWED });
      switch (serving.kind) {
        case 'served':
          return serving.settings;
        case 'unsupported':
          throw unavailable(role, serving.missing);
        case 'not_allowed':
          throw new TestKitError('unavailable', serving.message);
      }
    },
  };
}

/** Throws a `TestKitError` with all faults. */
export function readConfig(config: object): OperatorSettings {
  const parsed = parseConfigFile(config);
  if (parsed.ok) return parsed.settings;
  throw new TestKitError('invalid_config', `The config is not valid. ${parsed.faults.join(' ')}`);
}

/** The config of a worker, checked like a role of the config. Throws a `TestKitError` with all its faults. */
export function workerConfigOf(config: object, worker: object): WorkerConfig {
  const parsed = parseConfigFile({ ...config, roles: { worker } });
  if (parsed.ok) return parsed.settings.roles.get('worker') ?? {};
  const faults = parsed.faults.map((fault) => fault.replaceAll('roles.worker', 'worker'));
  throw new TestKitError('invalid_config', `The config of the worker is not valid. ${faults.join(' ')}`);
}

function unknownRole(role: string, known: readonly string[]): TestKitError {
  const names = known.length === 0 ? 'It has no roles.' : `Its roles: ${known.join(', ')}.`;
  return new TestKitError('unknown_role', `The config has no role ${JSON.stringify(role)}. ${names}`);
}

function unavailable(role: string | null, missing: readonly string[]): TestKitError {
  const who = role === null ? 'The worker' : `The role ${role}`;
  const message = `${who} needs what a test does not have: ${missing.join(', ')}. Give stand-ins for its tools: standIns: { ${exampleOf(missing)}: (input) => … }.`;
  return new TestKitError('unavailable', message);
}

/** The name of a tool that a stand-in could replace. */
function exampleOf([first = '']: readonly string[]): string {
  const [, server] = /^mcp server (.+)$/.exec(first) ?? [];
  return server === undefined ? first.replace(/^\w+ /, '') : `${server}__tool_name`;
}

/** Keeps name, schema, effect and approval. */
function withStandIn(tool: Tool, standIn: StandIn | undefined): Tool {
  if (standIn === undefined) return tool;
  const { reconcile: _, ...kept } = tool;
  const descriptor = { ...tool.descriptor, answered_by: 'tool' as const };
  return { ...kept, descriptor, execute: toExecute(standIn) };
}

/** A tool that this process does not have: of an MCP server, or a built-in one that reaches outside. */
function toolOf(name: string, standIn: StandIn): Tool {
  return {
    descriptor: {
      name,
      description: '',
      input_schema: { type: 'object' },
      effect: 'none',
      on_unknown: 'tell',
      answered_by: 'tool',
    },
    timeoutMs: null,
    validate: (value) => ({ ok: true, value }),
    execute: toExecute(standIn),
  };
}

function toExecute(standIn: StandIn): Tool['execute'] {
  // The input was validated by the schema of the tool, which is one of an object.
  return (input, context) => standIn(input as JsonObject, context);
}

/** The MCP servers of which there is a stand-in for at least one tool. */
function serversOf(registry: Registry): ToolServers {
  return {
    ...NO_SERVERS,
    offer(server) {
      const tools = registry.names.filter((name) => serverOf(name) === server);
      const descriptors = tools.flatMap((name) => registry.get(name, null)?.descriptor ?? []);
      return descriptors.length === 0 ? null : { kind: 'tools', tools: descriptors };
    },
  };
}
