/** This machine: Node, the environment, the config file. */
import { ConfigError, parseConfig } from '../../config/config.ts';
import type { Config } from '../../config/config.ts';
import type { Environment } from '../../config/environment.ts';
import { RUN_COMMAND_DEFAULTS } from '../../tools/built-in/command/limits.ts';
import type { RunCommandLimits } from '../../tools/built-in/command/limits.ts';
import { commandTenants } from '../command-tenants.ts';
import { ConfigFileError, loadConfigFile } from '../../tools/config-file.ts';
import { fail, ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';

const OLDEST_NODE = 24;

export function nodeFinding(version: string): Finding {
  return Number.parseInt(version, 10) >= OLDEST_NODE
    ? ok('node', version)
    : fail('node', `it is ${version}`, `Node ${OLDEST_NODE} or newer is needed.`);
}

/** Null beside a failure: nothing that the environment names can be looked at. */
export function environmentFinding(env: Environment): { config: Config | null; finding: Finding } {
  try {
    return { config: parseConfig(env), finding: ok('environment', 'it can be read') };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = '.env.example documents each variable.';
    return { config: null, finding: fail('environment', error.faults.join('; '), advice) };
  }
}

/** Whether keys are there, never what they are. */
export function providerFinding({ anthropic, openai }: Config): Finding {
  const given = [
    ...(anthropic.apiKey === null ? [] : ['ANTHROPIC_API_KEY']),
    ...(openai.apiKey === null ? [] : ['OPENAI_API_KEY']),
    ...(openai.baseUrl === null ? [] : ['OPENAI_BASE_URL']),
  ];
  if (given.length > 0) return ok('providers', `set: ${given.join(', ')}`);
  const advice = 'Set ANTHROPIC_API_KEY or OPENAI_API_KEY where workers run; simulated needs none.';
  return warn('providers', 'no keys are set here', advice);
}

/** `limits`: what it says of the tool `run_command`; null beside a failure. */
export async function operatorFinding(
  cwd: string,
  config: Config,
): Promise<{ limits: RunCommandLimits | null; finding: Finding }> {
  const name = 'config file';
  try {
    const { path, tools, roles, mcpServers, limits } = await loadConfigFile(cwd, config.configFile);
    if (limits.runCommand !== undefined) commandTenants(limits.runCommand, config);
    const detail =
      path === null
        ? 'none here: no tools or roles of your own'
        : `${path}: ${tools.length} tools, ${roles.size} roles, ${mcpServers.size} MCP servers`;
    return { limits: limits.runCommand ?? RUN_COMMAND_DEFAULTS, finding: ok(name, detail) };
  } catch (error) {
    if (!(error instanceof ConfigFileError)) throw error;
    const advice = 'Mend it: `start`, `api` and `worker` refuse it, too.';
    return { limits: null, finding: fail(name, error.message, advice) };
  }
}
