import { expect, test } from 'vitest';
import { usesEnvProxy } from '../../src/platform/env-proxy.ts';

test.each([
  [{}, [], false],
  [{ HTTPS_PROXY: 'http://proxy:3128' }, [], false],
  [{ NODE_USE_ENV_PROXY: '1' }, [], true],
  [{ NODE_USE_ENV_PROXY: '0' }, [], false],
  [{ NODE_OPTIONS: '--enable-source-maps  --use-env-proxy' }, [], true],
  [{}, ['--enable-source-maps', '--use-env-proxy'], true],
])('with %o and the flags %o the proxies of the environment apply: %s', (env, flags, expected) => {
  expect(usesEnvProxy(env, flags)).toBe(expected);
});
