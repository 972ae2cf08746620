/** Whether Node was told that the proxies of the environment hold: then they hold for our own HTTP client, too. */
import type { Environment } from '../config/environment.ts';

const FLAG = '--use-env-proxy';

/** `flags`: those that this process was started with. */
export function usesEnvProxy(env: Environment, flags: readonly string[]): boolean {
  const options = (env['NODE_OPTIONS'] ?? '').split(/\s+/);
  return env['NODE_USE_ENV_PROXY'] === '1' || flags.includes(FLAG) || options.includes(FLAG);
}
