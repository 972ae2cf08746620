/** What a run in memory can serve: the tools and roles of a config file, and stand-ins for tools. */
import { NO_LIMITS } from '../core/access/quotas.ts';
import { LIMITS } from '../core/limits.ts';
import { PROVIDERS } from '../core/model/model.ts';
import { ASKING_DEFAULTS } from '../core/run/policy.ts';
import { serverOf } from '../core/tools/mcp-tool-name.ts';
import type { ToolRunner } from '../core/tools/tool.ts';
import { ALL_ALLOWED } from '../core/workers/allowed-names.ts';
import type { Settings, WorkerConfig } from '../core/workers/settings.ts';
import { parseConfigFile, type OperatorSettings } from '../tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../tools/packages/secrets.ts';
import { createRegistry, type Registry } from '../tools/registry/registry.ts';
import { NO_SERVERS, type ToolServers } from '../tools/registry/servers.ts';
import { resolve } from '../tools/registry/settings.ts';
import { createToolRunner } from '../tools/run/execute.ts';
import type { Abilities as WorkerAbilities } from '../workers/process/ports.ts';
import type { TeamAbilities } from '../workers/run/team-abilities.ts';
import { TestKitError } from './error.ts';
import { toolsOf, type Given } from './known-tools.ts';

export type Abilities = {
  settings: OperatorSettings;
  registry: Registry;
  runner: ToolRunner;
  team: TeamAbilities;
  /** Of a worker that another one creates. */
  serve: WorkerAbilities['resolve'];
  /** Throws a `TestKitError` if the role is unknown, or needs what a test does not have. */
  resolve(role: string | null, worker: WorkerConfig): Settings;
};

/** Tests need no keys: a secret that is not given is a placeholder. */
const SECRETS = PLACEHOLDERS;

/** Throws a `TestKitError` with all faults of the config. */
export function abilitiesOf(config: object, { standIns, recorded }: Given): Abilities {
  const settings = readConfig(config);
  const limits = { ...LIMITS, asking: ASKING_DEFAULTS, ...settings.limits };
  const registry = createRegistry(toolsOf(settings, { standIns, recorded }));
  const catalog = {
    roles: settings.roles,
    registry,
    servers: serversOf(registry, recorded !== null),
    providers: new Set(PROVIDERS),
    asking: limits.asking,
    parameters: settings.limits.parameters ?? [],
    defaults: { model: 'simulated/test', max_steps: limits.maxSteps },
  };
  return {
    settings,
    registry,
    runner: createToolRunner(registry, { limits, hide: settings.hide }),
    team: {
      roles: settings.roles,
      limits: { depth: limits.workerDepth, children: limits.workerChildren, workers: limits.workersInTree },
      tenantWorkers: settings.limits.tenantWorkers ?? null,
      tenantLimits: settings.limits.tenantLimits ?? NO_LIMITS,
      toolResult: limits.toolResult,
    },
    serve: ({ config: written, role, definition }, caller, allow) =>
      resolve(written, definition ?? role, catalog, { caller, role, allow }),
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
  const parsed = parseConfigFile(config, SECRETS);
  if (parsed.ok) return parsed.settings;
  throw new TestKitError('invalid_config', `The config is not valid. ${parsed.faults.join(' ')}`);
}

/** The config of a worker, checked like a role of the config. Throws a `TestKitError` with all its faults. */
export function workerConfigOf(config: object, worker: object): WorkerConfig {
  const parsed = parseConfigFile({ ...config, roles: { worker } }, SECRETS);
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

/** The MCP servers of which there is a stand-in for at least one tool. In a replay also those that no call used. */
function serversOf(registry: Registry, isReplay: boolean): ToolServers {
  return {
    ...NO_SERVERS,
    offer(server) {
      const tools = registry.names.filter((name) => serverOf(name) === server);
      const descriptors = tools.flatMap((name) => registry.get(name, null)?.descriptor ?? []);
      return descriptors.length === 0 && !isReplay ? null : { kind: 'tools', tools: descriptors };
    },
  };
}
