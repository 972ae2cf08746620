/** Who may run commands without a sandbox. */
import { isLoopback } from '../api/access.ts';
import type { Config } from '../config/config.ts';
import { DEFAULT_TENANT } from '../core/ids.ts';
import type { RunCommandLimits } from '../tools/built-in/command/limits.ts';
import { ConfigFileError } from '../tools/config-file.ts';

type Surroundings = Pick<
  Config,
  'apiKeys' | 'adminKey' | 'anthropic' | 'openai' | 'databaseUrl' | 'redisUrl' | 'host'
>;

/**
 * Whose commands may run as plain processes. Such a command can read the environment of its process and the workspaces of all
 * tenants, so the operator names them. Only where one process is the whole installation no tenant has to be named. Throws
 * ConfigFileError where `tenants` is empty.
 */
export function commandTenants(
  { runner, tenants }: RunCommandLimits,
  surroundings: Surroundings,
): readonly string[] {
  if (runner !== 'process' || tenants.length > 0) return tenants;
  if (isAlone(surroundings)) return [DEFAULT_TENANT];
  throw new ConfigFileError(
    [
      "limits.run_command.runner: 'process' would let commands read what this process may read: keys, the database's address,",
      "workspaces of all tenants. Use 'container' or 'bubblewrap', or name in limits.run_command.tenants whose commands may run so",
      `(an API without keys has one tenant, ${DEFAULT_TENANT}).`,
    ].join('\n  '),
  );
}

/**
 * `start` with services of its own, for this machine, without keys. A process that is given a database cannot know who else uses
 * it: a worker process does not see the keys of the API.
 */
function isAlone({
  apiKeys,
  adminKey,
  anthropic,
  openai,
  databaseUrl,
  redisUrl,
  host,
}: Surroundings): boolean {
  const keys = [adminKey, anthropic.apiKey, openai.apiKey];
  const services = [databaseUrl, redisUrl];
  return apiKeys.length === 0 && [...keys, ...services].every((one) => one === null) && isLoopback(host);
}
