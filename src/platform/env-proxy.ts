/** Detects whether Node.js uses the proxy variables of the environment; if so, our HTTP client uses them too. */
import type { Environment } from '../config/environment.ts';

const FLAG = '--use-env-proxy';

/** `flags`: the command line flags of this process. */
export function usesEnvProxy(env: Environment, flags: readonly string[]): boolean {
  const options = (env['NODE_OPTIONS'] ?? '').split(/\s+/);
  return env['NODE_USE_ENV_PROXY'] === '1' || flags.includes(FLAG) || options.includes(FLAG);
}
