// The platform that a test file uses, and a client to prepare data with: a tenant of the platform that the whole run
// shares, or a platform of the file's own, for tests that restart it or need other settings. Without a browser nothing
// is started.
import { afterAll, beforeAll, inject } from 'vitest';
import { createClient, type Client } from '../../../src/client/index.ts';
import { killChildren } from '../../e2e/rig/children.ts';
import { findHeadless } from './chromium.ts';
import { signIn, type SessionCookie } from './sign-in.ts';
import { effectsOf, startPlatform, type RunningPlatform } from './start-platform.ts';
import { keyOf } from './tenants.ts';

export type ConsolePlatform = {
  url: string;
  client: Client;
  /** Signs a browser in; null where the platform asks for no key. */
  session: SessionCookie | null;
  /** The effects of the tools of a context, one line for each. */
  effectsOf: (contextId: string) => Promise<string[]>;
};

/** A platform of the file's own. */
export type OwnPlatform = ConsolePlatform & Pick<RunningPlatform, 'kill' | 'restart'>;

/** The tenant of this name on the shared platform; a file uses its own name, so that it sees only its own data. */
export function useTenant(name: string): () => ConsolePlatform {
  let platform: ConsolePlatform | null = null;
  beforeAll(async () => {
    if (findHeadless() === null) return;
    const shared = inject('consolePlatform');
    const apiKey = keyOf(name);
    platform = {
      url: shared.url,
      client: createClient({ url: shared.url, apiKey }),
      session: await signIn(shared.url, apiKey),
      effectsOf: (contextId) => effectsOf(shared, contextId),
    };
  });
  afterAll(async () => {
    for (const status of ['queued', 'running', 'waiting'] as const) await platform?.client.jobs.cancelAll({ status });
  });
  return () => started(platform);
}

/** With these settings too; without those of access it asks for no key. */
export function useOwnPlatform(
  env: Record<string, string> | (() => Promise<Record<string, string>>) = {},
): () => OwnPlatform {
  let running: RunningPlatform | null = null;
  let platform: OwnPlatform | null = null;
  beforeAll(async () => {
    if (findHeadless() === null) return;
    const services = {
      databaseUrl: inject('databaseUrl'),
      testRun: inject('testRun'),
      redisUrl: inject('redisUrl'),
    };
    const own = await startPlatform(services, typeof env === 'function' ? await env() : env);
    running = own;
    platform = {
      url: own.url,
      client: createClient({ url: own.url }),
      session: null,
      effectsOf: (contextId) => effectsOf(own, contextId),
      kill: own.kill,
      restart: own.restart,
    };
  });
  afterAll(async () => {
    await running?.end();
    await killChildren();
  });
  return () => started(platform);
}

function started<T>(platform: T | null): T {
  if (platform === null) throw new Error('the platform was not started');
  return platform;
}
