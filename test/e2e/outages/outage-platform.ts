// The platform of the outage tests: an API and two worker processes, on services of their own where the test breaks
// these; and the invariants after any outage.
import { expect, inject } from 'vitest';
import { createFreshDatabase } from '../../services/database.ts';
import { startOwnPostgres } from '../../services/own-postgres.ts';
import { startOwnRedis } from '../../services/own-redis.ts';
import type { OwnService } from '../../services/own-service.ts';
import { killChildren, type Child } from '../rig/children.ts';
import type { Client } from '../rig/client.ts';
import { readOutside } from '../outside/outside-tools.ts';
import { startApi, startWorker, type Env } from '../rig/platform.ts';
import { openEnvironment, type Own, type TestEnvironment } from '../rig/environment.ts';

export const LONG = { timeout: 180_000 };
export const CALLS = ['look', 'mail'];
/** Long enough that work is in progress at every fault. */
export const SCRIPT = 'wait: 100ms\ncall: look {"before_ms": 50}\ncall: mail {"before_ms": 100, "after_ms": 50}';
/** A lease that no outage outlasts, even where a busy machine takes its time to end it. */
export const LONG_LEASE: Env = { NIGHTSHIFT_LEASE_MS: '45000' };
/** A lease that expires during a test. */
export const SHORT_LEASE = {
  NIGHTSHIFT_LEASE_MS: '3000',
  NIGHTSHIFT_HEARTBEAT_TIMEOUT_MS: '900',
} as const;
/** The API gives a request up soon. */
export const SHORT_REQUEST: Env = { NIGHTSHIFT_REQUEST_MS: '1500' };

/** Separate processes find each other over Redis. */
export const redis = inject('redisUrl') !== null;

const ending: (() => Promise<void>)[] = [];

/** Run after the test, the last one first. */
export function atEnd(end: () => Promise<void>): void {
  ending.push(end);
}

export async function endAll(): Promise<void> {
  await killChildren();
  for (const end of ending.splice(0).reverse()) await end();
}

export type OutagePlatform = {
  environment: TestEnvironment;
  env: Env;
  client: Client;
  api: Child;
  workers: Child[];
};

export async function openPlatform(own: Own, more: Env = {}): Promise<OutagePlatform> {
  const environment = await openEnvironment(own);
  atEnd(() => environment.close());
  return openPlatformOn(environment, more);
}

export async function openPlatformOn(environment: TestEnvironment, more: Env): Promise<OutagePlatform> {
  const env: Env = {
    ...environment.env,
    NIGHTSHIFT_CONFIG: 'test/e2e/outside/outside.config.ts',
    OUTSIDE: environment.file('outside'),
    LOG_LEVEL: 'info',
    ...more,
  };
  const [api, ...workers] = await Promise.all([startApi(env), startWorker(env), startWorker(env)]);
  return { environment, client: api.client, api: api.child, env: api.env, workers };
}

/** A service that the tests of one file share, started at the first use. */
export type Shared = { get(): Promise<OwnService>; remove(): Promise<void> };

export const sharedPostgres = (): Shared => shared(startOwnPostgres);

export const sharedRedis = (): Shared =>
  shared(async () => {
    const service = await startOwnRedis();
    if (service === null) throw new Error('this run has no Redis');
    return service;
  });

function shared(start: () => Promise<OwnService>): Shared {
  let started: Promise<OwnService> | null = null;
  return {
    get: () => (started ??= start()),
    remove: async () => (await started)?.remove(),
  };
}

/** A database of its own on this service. */
export async function databaseOn(service: OwnService): Promise<Own> {
  const { url } = await createFreshDatabase({ databaseUrl: service.url, testRun: inject('testRun') });
  return { databaseUrl: url };
}

/** Logs at their usual level contain no content of messages, and no error but those that the outage explains. */
export function expectGoodLogs(platform: OutagePlatform, explained: RegExp = /^$/): void {
  const lines = [platform.api, ...platform.workers].flatMap((child) => child.lines);
  expect(lines.filter((line) => /before_ms|answered input|all in good time/.test(line))).toEqual([]);
  expect(lines.filter((line) => /"level":[56]0/.test(line) && !explained.test(line))).toEqual([]);
}

/** Each `once` call began at most once in the outside world. */
export function expectOnce(environment: TestEnvironment): void {
  const begun = readOutside(environment.file('outside')).filter(
    (line) => line.what === 'begin' && line.name === 'mail',
  );
  expect(begun.map(({ key }) => key).sort()).toEqual([...new Set(begun.map(({ key }) => key))].sort());
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
