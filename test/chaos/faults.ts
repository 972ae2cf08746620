// The faults: processes killed, stopped, drained and paused, services killed, paused and flushed, connections cut, silenced and
// slowed. Each fault repairs itself; no two faults hit the same target at once. Some strike in every run, beside the random
// ones: what the operator asks of worker processes, and an API process that is killed during a bulk retry.
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import pTimeout, { TimeoutError } from 'p-timeout';
import type { LostRetry } from './clients/repairs.ts';
import { drain, pauseAndResume, type Operator } from './operator.ts';
import { TIMES, type Platform, type Member } from './platform.ts';
import type { Random } from './random.ts';
import type { Services } from './services.ts';
import type { Struck } from './world/world.ts';
import type { SilentProxy } from '../e2e/outages/silent-proxy.ts';
import type { OwnService } from '../services/own-service.ts';

type Blow = { target: string; endsRuns: boolean; strike(): Promise<void> };

type Fault = { kind: string; weight: number; aim(scene: Targets): Blow };

type Targets = { platform: Platform; services: Services; redis: Redis; random: Random; operator: Operator };

/** A fault of every run. `due`: from when on it strikes. */
type Certain = { fault: Fault; due: Promise<unknown> };

/** Each has ended by then, in milliseconds: a process may take a minute to start. */
const REPAIRED_WITHIN_MS = 120_000;

/** Longer than the lease, so that the process is declared dead; and shorter. */
const beyondLease = (random: Random): number => random.between(TIMES.lease + 800, TIMES.lease * 2);
const withinLease = (random: Random): number => random.between(300, TIMES.lease / 2);

const FAULTS: readonly Fault[] = [
  ofProcess('worker killed', 'worker', 6, killed),
  ofProcess('worker stopped beyond the lease', 'worker', 3, async (one, random) => frozen(one, beyondLease(random))),
  ofProcess('worker stopped for a moment', 'worker', 1, async (one, random) => frozen(one, withinLease(random))),
  ofProcess('worker stopped with rows in hand', 'worker', 2, async (one, random, { services }) => {
    await untilWritten(one, services.postgres.url);
    await frozen(one, random.chance(0.5) ? beyondLease(random) : withinLease(random));
  }),
  ofProcess('worker drained', 'worker', 3, drained, false),
  ofProcess('worker paused by request', 'worker', 2, paused, false),
  ofProcess('worker drained by request', 'worker', 2, drainedByRequest, false),
  ofProcess('API killed', 'api', 3, killed),
  ofProcess('API stopped beyond the lease', 'api', 1, async (one, random) => frozen(one, beyondLease(random))),
  ofProcess('API drained', 'api', 1, drained),
  ofNetwork('connections to Postgres cut', 'postgres', 4, async (network) => network.cut()),
  ofNetwork('connections to Postgres silent', 'postgres', 2, silenced),
  ofNetwork('Postgres behind a slow network', 'postgres', 2, delayed),
  ofNetwork('connections to the outbox cut', 'outbox', 2, async (network) => network.cut()),
  ofNetwork('connections to the outbox silent', 'outbox', 1, silenced),
  ofNetwork('the outbox behind a slow network', 'outbox', 1, delayed),
  ofNetwork('connections to Redis cut', 'redis', 1, async (network) => network.cut()),
  ofNetwork('connections to Redis silent', 'redis', 1, silenced),
  ofService('Redis flushed', 'redis', 3, async ({ redis }) => void (await redis.flushall().catch(() => undefined))),
  ofService('Redis killed', 'redis', 1, async ({ services, random }) => {
    await services.redis.kill();
    await sleep(random.between(0, 4_000));
    await insist(() => services.redis.start());
  }),
  ofService('Redis paused', 'redis', 1, async ({ services, random }) => {
    await held(services.redis, random.between(1_000, 6_000));
  }),
  ofService('Postgres restarted', 'postgres', 1, async ({ services, random }) => {
    await services.postgres.stop();
    await sleep(random.between(0, 2_000));
    await insist(() => services.postgres.start());
  }),
  ofService('Postgres killed', 'postgres', 1, async ({ services, random }) => {
    await services.postgres.kill();
    await sleep(random.between(0, 2_000));
    await insist(() => services.postgres.start());
  }),
  ofService('Postgres paused for a moment', 'postgres', 1, async ({ services, random }) => {
    await held(services.postgres, withinLease(random));
  }),
  ofService('Postgres paused beyond the lease', 'postgres', 0.5, async ({ services, random }) => {
    await held(services.postgres, beyondLease(random));
  }),
];

function ofProcess(
  kind: string,
  which: Member['kind'],
  weight: number,
  strike: (member: Member, random: Random, scene: Targets) => Promise<void>,
  endsRuns = which === 'worker',
): Fault {
  return {
    kind,
    weight,
    aim(scene) {
      const { platform, random } = scene;
      const member = random.pick(platform.members.filter(({ kind: one }) => one === which));
      return {
        target: member.name,
        endsRuns,
        strike: () => strike(member, random, scene),
      };
    },
  };
}

function ofNetwork(
  kind: string,
  service: keyof Member['network'],
  weight: number,
  strike: (network: SilentProxy, random: Random) => Promise<void>,
): Fault {
  return {
    kind,
    weight,
    aim({ platform, random }) {
      // Only workers relay the outbox.
      const member = random.pick(platform.members.filter(({ kind }) => kind === 'worker' || service !== 'outbox'));
      return {
        target: member.name,
        endsRuns: member.kind === 'worker' && service === 'postgres',
        strike: () => strike(member.network[service], random),
      };
    },
  };
}

function ofService(
  kind: string,
  target: 'postgres' | 'redis',
  weight: number,
  strike: (scene: Targets) => Promise<void>,
): Fault {
  return { kind, weight, aim: (scene) => ({ target, endsRuns: target === 'postgres', strike: () => strike(scene) }) };
}

async function silenced(network: SilentProxy): Promise<void> {
  network.silence();
  await sleep(TIMES.lease);
}

async function delayed(network: SilentProxy, random: Random): Promise<void> {
  network.delay();
  await sleep(random.chance(0.5) ? beyondLease(random) : withinLease(random));
  network.flow();
}

async function killed(member: Member, random: Random): Promise<void> {
  await member.end('SIGKILL');
  await sleep(random.between(0, 2_000));
  await member.start();
}

async function drained(member: Member, random: Random): Promise<void> {
  await member.end('SIGTERM');
  await sleep(random.between(0, 500));
  await member.start();
}

async function paused(member: Member, random: Random, { operator }: Targets): Promise<void> {
  await pauseAndResume(operator, member, random);
}

async function drainedByRequest(member: Member, random: Random, { operator }: Targets): Promise<void> {
  await drain(operator, member);
  await sleep(random.between(0, 500));
  await member.start();
}

function duringRetry(lost: LostRetry): Fault {
  return ofProcess('API killed during a bulk retry', 'api', 0, async (member, random) => {
    await lost.send(member.url, async () => void (await member.end('SIGKILL')));
    await sleep(random.between(0, 2_000));
    await member.start();
  });
}

/** Polls for a time at which one of its transactions has written a row, and not for long. */
async function untilWritten({ child }: Member, url: string): Promise<void> {
  if (child === null) return;
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 2_000 });
  // Each query tells by itself.
  client.on('error', () => undefined);
  const end = performance.now() + 3_000;
  try {
    await client.connect();
    while (performance.now() < end) {
      const { rowCount } = await client.query(
        `select 1 from pg_stat_activity a join nightshift.processes p on p.session_name = a.application_name
         where p.pid = $1 and p.dead_at is null and a.backend_xid is not null limit 1`,
        [child.pid],
      );
      if (rowCount !== 0) return;
    }
  } catch {
    // Postgres has a fault, too: the process is stopped at any point.
  } finally {
    await Promise.race([client.end().catch(() => undefined), sleep(2_000, undefined, { ref: false })]);
  }
}

async function frozen({ child }: Member, ms: number): Promise<void> {
  child?.signal('SIGSTOP');
  await sleep(ms);
  child?.signal('SIGCONT');
}

async function held(service: OwnService, ms: number): Promise<void> {
  await service.pause();
  await sleep(ms);
  await insist(() => service.resume());
}

/** The fault is repaired, even where the container engine takes several tries. */
async function insist(mend: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await mend();
    } catch (error) {
      if (tries === 10) throw error;
      await sleep(1_000);
    }
  }
}

export type Storm = {
  struck: Struck[];
  /** Resolves once the last fault has repaired itself. */
  over: Promise<void>;
};

type Plan = {
  count: number;
  ms: number;
  stopped: AbortSignal;
  operator: Operator;
  /** Bulk retries, each of which an API process is killed during. */
  lost: readonly LostRetry[];
};

/** `count` faults, spread over `ms`, beside the certain ones. `report` receives each as it begins. */
export function startStorm(
  platform: Platform,
  services: Services,
  random: Random,
  plan: Plan,
  report: (struck: Struck) => void,
): Storm {
  const struck: Struck[] = [];
  const busy = new Set<string>();
  const under: Promise<void>[] = [];
  const redis = new Redis(services.redis.url, {
    maxRetriesPerRequest: 0,
    commandTimeout: 1_000,
    retryStrategy: () => 200,
  });
  redis.on('error', () => undefined);
  const begun = performance.now();
  const scene = { platform, services, redis, random, operator: plan.operator };
  const strike = (kind: string, blow: Blow): void => {
    const { target, endsRuns } = blow;
    const at = performance.now();
    const one: Struck = { kind, target, at: at - begun, wall: Date.now(), ms: 0, endsRuns, missed: null };
    struck.push(one);
    report(one);
    busy.add(target);
    under.push(
      pTimeout(blow.strike(), { milliseconds: REPAIRED_WITHIN_MS })
        .catch((error: unknown) => {
          one.missed = String(error);
          if (!(error instanceof TimeoutError)) return;
          platform.incidents.push({ process: target, what: `has a fault without an end: ${kind}`, lines: [] });
        })
        .finally(() => {
          one.ms = performance.now() - at;
          busy.delete(target);
        }),
    );
  };
  const strikeOnce = (): void => {
    for (let tries = 0; tries < 20; tries += 1) {
      const fault = random.weighted(FAULTS);
      const blow = fault.aim(scene);
      if (busy.has(blow.target)) continue;
      return strike(fault.kind, blow);
    }
  };
  const isStopped = new Promise((_, reject) => plan.stopped.addEventListener('abort', reject));
  isStopped.catch(() => undefined);
  /** Waits for a target without a fault. */
  const strikeSurely = async ({ fault, due }: Certain): Promise<void> => {
    await Promise.race([due, isStopped]);
    for (;;) {
      const blow = fault.aim(scene);
      if (!busy.has(blow.target)) return strike(fault.kind, blow);
      await sleep(50, undefined, { signal: plan.stopped });
    }
  };
  const rage = async (): Promise<void> => {
    for (const due of moments(plan.count, plan.ms, random)) {
      await sleep(Math.max(0, due - (performance.now() - begun)), undefined, { signal: plan.stopped });
      strikeOnce();
    }
  };
  const certain = certainFaults(plan, random.of('certain'));
  const over = Promise.all([rage(), ...certain.map(strikeSurely)])
    .catch((error: unknown) => {
      if (!plan.stopped.aborted) throw error;
    })
    .then(() => Promise.all(under))
    .then(() => redis.disconnect());
  return { struck, over };
}

/** What the operator asks is tested early, so that the work goes on afterwards. */
function certainFaults({ ms, stopped, lost }: Plan, random: Random): Certain[] {
  const asked = FAULTS.filter(({ kind }) => kind.endsWith('by request')).map((fault) => ({
    fault,
    due: sleep(random.between(0, ms / 2), undefined, { signal: stopped }).catch(() => undefined),
  }));
  return [...asked, ...lost.map((one) => ({ fault: duringRetry(one), due: one.ready }))];
}

/** `count` times within `ms`, in order. */
export function moments(count: number, ms: number, random: Random): number[] {
  return Array.from({ length: count }, () => random.next() * ms).sort((a, b) => a - b);
}
