/** Determines which tenants may run commands without a sandbox. */
import { isLoopback } from '../config/loopback.ts';
import type { Config } from '../config/config.ts';
import { isSecured, type AccessSettings } from '../config/secured.ts';
import { DEFAULT_TENANT_NAME } from '../core/ids.ts';
import type { RunCommandLimits } from '../tools/built-in/command/limits.ts';
import { ConfigFileError } from '../tools/config/config-file.ts';

type Surroundings = AccessSettings & Pick<Config, 'anthropic' | 'openai' | 'databaseUrl' | 'redisUrl' | 'host'>;

/**
 * The tenants whose commands may run as plain processes. Such a command can read the environment of its process and the
 * workspaces of all tenants, so the operator must name the tenants. If `tenants` is empty, only a process that is the
 * whole installation gets the default tenant; any other throws ConfigFileError.
 */
export function commandTenants({ runner, tenants }: RunCommandLimits, surroundings: Surroundings): readonly string[] {
  if (runner !== 'process' || tenants.length > 0) return tenants;
  if (isAlone(surroundings)) return [DEFAULT_TENANT_NAME];
  throw new ConfigFileError(
    [
      "limits.run_command.runner: 'process' lets commands read everything this process can read: API keys, the database",
      "URL and the workspaces of all tenants. Use 'container' or 'bubblewrap', or list the trusted tenants in",
      `limits.run_command.tenants (an API without keys has one tenant: ${DEFAULT_TENANT_NAME}).`,
    ].join('\n  '),
  );
}

/**
 * True for `start` with its own services, on a loopback address, without keys and OpenID Connect. A process with a given database cannot
 * know which other processes share it: a worker process does not see the keys of the API.
 */
function isAlone({ anthropic, openai, databaseUrl, redisUrl, host, ...access }: Surroundings): boolean {
  const given = [anthropic.apiKey, openai.apiKey, databaseUrl, redisUrl];
  return !isSecured(access) && given.every((one) => one === null) && isLoopback(host);
}
