/** Checks this machine: Node.js, the environment, the config file. */
import { ConfigError, parseEnvironment, type Config } from '../../config/config.ts';
import type { Environment } from '../../config/environment.ts';
import { RUN_COMMAND_DEFAULTS, type RunCommandLimits } from '../../tools/built-in/command/limits.ts';
import { commandTenants } from '../../platform/command-tenants.ts';
import { transactionalAmong } from '../../platform/services/tool-database.ts';
import { ConfigFileError, loadConfigFile, type ConfigFile } from '../../tools/config/config-file.ts';
import { fromEnvironment } from '../../tools/packages/secrets.ts';
import { count } from '../terminal/time.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

const OLDEST_NODE = 24;

export function nodeFinding(version: string): Finding {
  return Number.parseInt(version, 10) >= OLDEST_NODE
    ? ok('node', version)
    : fail('node', `version ${version}`, `Install Node.js ${OLDEST_NODE} or newer.`);
}

/** Null when the environment is invalid; the checks that depend on it are skipped. */
export function environmentFinding(env: Environment): { config: Config | null; finding: Finding } {
  try {
    return { config: parseEnvironment(env), finding: ok('environment', 'valid') };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = 'See .env.example for the documentation of each variable.';
    return { config: null, finding: fail('environment', error.faults.join('; '), advice) };
  }
}

/** Reports which keys are set, never their values. */
export function providerFinding({ anthropic, openai }: Config): Finding {
  const given = [
    ...(anthropic.apiKey === null ? [] : ['ANTHROPIC_API_KEY']),
    ...(openai.apiKey === null ? [] : ['OPENAI_API_KEY']),
    ...(openai.baseUrl === null ? [] : ['OPENAI_BASE_URL']),
  ];
  if (given.length > 0) return ok('providers', `set: ${given.join(', ')}`);
  const advice =
    'Set ANTHROPIC_API_KEY or OPENAI_API_KEY for the worker processes. The simulated provider needs no key.';
  return warn('providers', 'no API keys are set in this environment', advice);
}

type Operator = {
  /** The settings of the tool `run_command`; null: the config file is invalid, and the others are empty. */
  limits: RunCommandLimits | null;
  outboxes: ConfigFile['outboxes'];
  /** Names of tools. */
  transactional: readonly string[];
  finding: Finding;
};

export async function operatorFinding(cwd: string, config: Config, env: Environment): Promise<Operator> {
  const name = 'config file';
  try {
    const { path, tools, roles, mcpServers, limits, outboxes } = await loadConfigFile(cwd, config.configFile, {
      secrets: fromEnvironment(env),
    });
    if (limits.runCommand !== undefined) commandTenants(limits.runCommand, config);
    const detail =
      path === null
        ? 'not found; no custom tools or roles'
        : `${path}: ${count(tools.length, 'tool')}, ${count(roles.size, 'role')}, ${count(mcpServers.size, 'MCP server')}`;
    const transactional = transactionalAmong(tools);
    return { limits: limits.runCommand ?? RUN_COMMAND_DEFAULTS, outboxes, transactional, finding: ok(name, detail) };
  } catch (error) {
    if (!(error instanceof ConfigFileError)) throw error;
    const advice = 'Fix the file: `start`, `api` and `worker` refuse to start with it.';
    return { limits: null, outboxes: new Map(), transactional: [], finding: fail(name, error.message, advice) };
  }
}
