/** Who may run commands without a sandbox. */
import type { Config } from '../config.ts';
import { DEFAULT_TENANT } from '../core/ids.ts';
import type { RunCommandLimits } from '../tools/built-in/command/limits.ts';
import { OperatorFileError } from '../tools/operator-file.ts';

/**
 * Whose commands may run as plain processes. Such a command can read the environment of its worker process: where keys are in
 * it, or several tenants share it, the operator names them. Throws OperatorFileError where `tenants` is empty.
 */
export function commandTenants(
  { runner, tenants }: RunCommandLimits,
  { apiKeys, anthropic, openai }: Pick<Config, 'apiKeys' | 'anthropic' | 'openai'>,
): readonly string[] {
  if (runner !== 'process' || tenants.length > 0) return tenants;
  if (apiKeys.length === 0 && anthropic.apiKey === null && openai.apiKey === null) return [DEFAULT_TENANT];
  throw new OperatorFileError(
    [
      "limits.run_command.runner: 'process' would let commands read the keys in the environment of this process.",
      "Use 'container' or 'bubblewrap', or name in limits.run_command.tenants whose commands may run so",
      `(an API without keys has one tenant, ${DEFAULT_TENANT}).`,
    ].join('\n  '),
  );
}
