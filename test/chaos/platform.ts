// The platform under test: worker and API processes of the command line, each behind a network of its own, restarted
// whenever they end. Their output goes to the log folder.
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../src/dev/free-port.ts';
import { startChild, type Child } from '../e2e/rig/children.ts';
import { startSilentProxy, type SilentProxy } from '../e2e/outages/silent-proxy.ts';
import { makeLogins, withLogins } from '../services/logins.ts';
import type { Services } from './services.ts';
import { behind, openShop, type Shop } from './shop.ts';
import { noteClaims } from './world/operated.ts';
import type { Incident } from './world/world.ts';

const MAIN = 'src/cli/main.ts';

/** All in milliseconds. */
export const TIMES = {
  lease: 4_000,
  missed: 1_000,
  beat: 250,
  grace: 2_500,
  drain: 5_000,
  request: 3_000,
} as const;

/** By the tenant that they give access to. `operator`: the admin key. */
export const KEYS = {
  default: 'chaos-key-of-default',
  paused: 'chaos-key-of-paused',
  deleted: 'chaos-key-of-deleted',
  repaired: 'chaos-key-of-repaired',
  operator: 'chaos-key-of-the-operator',
} as const;
export const AUTHORIZED = { authorization: `Bearer ${KEYS.default}` };

/** How long a process may take to start, or to end on request. */
const COME_UP_MS = 60_000;
const END_MS = TIMES.drain + 15_000;

/** Errors in a log that faults of this kind explain. */
const EXPLAINED = /declared dead|ending all runs/;
const LAST_LINES = 12;

export type Member = {
  name: string;
  kind: 'worker' | 'api';
  /** Between this process and each service; `outbox`: the database of the service beside the platform. */
  network: { postgres: SilentProxy; redis: SilentProxy; outbox: SilentProxy };
  /** Of the API: its address. */
  url: string;
  child: Child | null;
  /** Starts it, and resolves once it is up. An unexpected end is an incident, and it is started again. */
  start(): Promise<void>;
  /** Terminates it, by a signal or a request; resolves once it has ended, to its exit code. Null: not in time. */
  end(how: 'SIGKILL' | 'SIGTERM' | (() => Promise<void>)): Promise<number | null>;
};

export type Platform = {
  members: Member[];
  apis: string[];
  shop: Shop;
  incidents: Incident[];
  close(): Promise<void>;
};

export type PlatformOptions = {
  workers: number;
  apis: number;
  folder: string;
  outside: string;
  /** API and worker processes have logins of their own: row security limits that of the API. */
  logins: boolean;
};

export async function openPlatform(services: Services, options: PlatformOptions): Promise<Platform> {
  const incidents: Incident[] = [];
  const env = environment(options.outside);
  const ofOwner = { ...env, DATABASE_URL: services.postgres.url };
  await runCommand(['migrate'], ofOwner);
  await noteClaims(services.postgres.url);
  const shop = await openShop(services.postgres.url, (args) => runCommand(args, ofOwner));
  const logins = options.logins ? await ownLogins(services.postgres.url) : null;
  const names = [
    ...Array.from({ length: options.workers }, (_, at) => ({
      kind: 'worker' as const,
      name: `worker-${at + 1}`,
    })),
    ...Array.from({ length: options.apis }, (_, at) => ({ kind: 'api' as const, name: `api-${at + 1}` })),
  ];
  const flushes: (() => void)[] = [];
  const members = await Promise.all(
    names.map(async ({ kind, name }) => {
      const network = {
        postgres: await startSilentProxy(services.postgres.url),
        redis: await startSilentProxy(services.redis.url),
        outbox: await startSilentProxy(shop.relayUrl),
      };
      const port = await freePort();
      const log = logOf(path.join(options.folder, `${name}.log`));
      flushes.push(() => log.flush());
      const own = {
        ...env,
        ...databaseEnv(kind, network.postgres.url, logins),
        ...shopEnv(kind, shop, network),
        REDIS_URL: network.redis.url,
        PORT: String(port),
      };
      return member(kind, name, `http://127.0.0.1:${port}`, network, own, incidents, (child) => log.follow(child));
    }),
  );
  const flushing = setInterval(() => flushes.forEach((flush) => flush()), 500);
  await Promise.all(members.map((one) => one.start()));
  return {
    members,
    apis: members.filter(({ kind }) => kind === 'api').map(({ url }) => url),
    shop,
    incidents,
    async close() {
      await Promise.all(members.map((one) => one.end('SIGKILL')));
      for (const { network } of members) await Promise.all(Object.values(network).map((one) => one.close()));
      clearInterval(flushing);
      flushes.forEach((flush) => flush());
    },
  };
}

function environment(outside: string): Record<string, string> {
  return {
    // They end when this process does, however it ends.
    NODE_OPTIONS: `--import ${pathToFileURL(path.join(import.meta.dirname, '../../bootstrap-child.js')).href}`,
    NIGHTSHIFT_BOOTSTRAP: String(process.pid),
    NIGHTSHIFT_CONFIG: 'test/chaos/chaos.config.ts',
    NIGHTSHIFT_SECRET_KEY: 'the-secret-of-chaos-with-32-characters',
    OUTSIDE: outside,
    NIGHTSHIFT_ADMIN_KEY: KEYS.operator,
    NIGHTSHIFT_API_KEYS: (['default', 'paused', 'deleted', 'repaired'] as const)
      .map((name) => `${KEYS[name]}:${name}`)
      .join(),
    LOG_LEVEL: 'info',
    NIGHTSHIFT_PREFIX: 'chaos',
    NIGHTSHIFT_LEASE_MS: String(TIMES.lease),
    NIGHTSHIFT_HEARTBEAT_TIMEOUT_MS: String(TIMES.missed),
    NIGHTSHIFT_HEARTBEAT_INTERVAL_MS: String(TIMES.beat),
    NIGHTSHIFT_STOP_GRACE_MS: String(TIMES.grace),
    NIGHTSHIFT_DRAIN_MS: String(TIMES.drain),
    NIGHTSHIFT_REQUEST_MS: String(TIMES.request),
  };
}

type Logins = Awaited<ReturnType<typeof withLogins>>;

async function ownLogins(databaseUrl: string): Promise<Logins> {
  await makeLogins(databaseUrl);
  return withLogins(databaseUrl);
}

/** `url`: that of the network. */
function databaseEnv(kind: Member['kind'], url: string, logins: Logins | null): Record<string, string> {
  if (logins === null) return { DATABASE_URL: url };
  const { username, password } = new URL(logins[kind]);
  const own = Object.assign(new URL(url), { username, password }).href;
  return kind === 'api' ? { NIGHTSHIFT_API_DATABASE_URL: own } : { DATABASE_URL: own };
}

/** Only workers relay, and run tools. */
function shopEnv(kind: Member['kind'], shop: Shop, network: Member['network']): Record<string, string> {
  const relay = { OUTBOX_URL: behind(shop.relayUrl, network.outbox) };
  if (kind === 'api') return relay;
  return { ...relay, NIGHTSHIFT_TOOLS_DATABASE_URL: behind(shop.toolsUrl, network.postgres) };
}

async function runCommand(args: readonly string[], env: Record<string, string>): Promise<void> {
  const child = startChild(MAIN, args, env);
  const { code } = await child.exited;
  if (code !== 0) throw new Error(`nightshift ${args.join(' ')} failed:\n${child.lines.join('\n')}`);
}

function member(
  kind: Member['kind'],
  name: string,
  url: string,
  network: Member['network'],
  env: Record<string, string>,
  incidents: Incident[],
  follow: (child: Child) => void,
): Member {
  /** Children that were terminated: their end is no incident. */
  const dismissed = new Set<Child>();
  const note = (what: string, child: Child): void =>
    void incidents.push({ process: name, what, lines: child.lines.slice(-LAST_LINES) });
  const watch = async (child: Child): Promise<void> => {
    const { code, signal } = await child.exited;
    for (const line of child.lines.filter((line) => /"level":[56]0/.test(line) && !EXPLAINED.test(line))) {
      incidents.push({ process: name, what: 'logs an unexplained error', lines: [line] });
    }
    if (one.child === child) one.child = null;
    if (dismissed.has(child)) return;
    note(`ended by itself (${code ?? signal})`, child);
    await sleep(500);
    await one.start();
  };
  const one: Member = {
    name,
    kind,
    url,
    network,
    child: null,
    async start() {
      const child = startChild(MAIN, [kind], env);
      one.child = child;
      follow(child);
      void watch(child);
      const up = child.says(kind === 'worker' ? /worker process is up/ : /the API is up/).then(() => true);
      const isUp = await Promise.race([up.catch(() => true), sleep(COME_UP_MS, false, { ref: false })]);
      if (!isUp) note(`is not up after ${COME_UP_MS} ms`, child);
    },
    async end(how) {
      const { child } = one;
      if (child === null) return null;
      dismissed.add(child);
      if (typeof how === 'function') await how();
      else child.signal(how);
      if (how !== 'SIGKILL') {
        const what = how === 'SIGTERM' ? how : 'a request';
        const ended = await Promise.race([child.exited, sleep(END_MS, null, { ref: false })]);
        if (ended === null) note(`did not end within ${END_MS} ms of ${what}`, child);
        else if (ended.code !== 0) note(`ended with ${ended.code ?? ended.signal} after ${what}`, child);
        if (ended === null) child.signal('SIGKILL');
      }
      return (await child.exited).code;
    },
  };
  return one;
}

/** Lines of one member, over all its lives, in one file. */
function logOf(file: string): { follow(child: Child): void; flush(): void } {
  let current: { child: Child; written: number } | null = null;
  const flush = (): void => {
    if (current === null) return;
    const fresh = current.child.lines.slice(current.written);
    current.written += fresh.length;
    if (fresh.length > 0) appendFileSync(file, `${fresh.join('\n')}\n`);
  };
  return {
    flush,
    follow(child) {
      flush();
      appendFileSync(file, `--- ${new Date().toISOString()} pid ${child.pid}\n`);
      current = { child, written: 0 };
    },
  };
}
