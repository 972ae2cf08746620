// The faults: processes killed, stopped and drained, services killed, paused and flushed, connections cut, silenced and
// slowed. Each fault repairs itself; no two faults hit the same target at once.
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import postgres from 'postgres';
import { TIMES } from './platform.ts';
import type { House, Member } from './platform.ts';
import type { Dice } from './random.ts';
import type { Services } from './services.ts';
import type { OwnService } from '../services/own-service.ts';

/**
 * `target`: which process, or which service. No target is hit twice at once. `missed`: why it could not be hit; a busy
 * container engine refuses to pause now and then.
 */
export type Struck = { at: number; kind: string; target: string; ms: number; missed: string | null };

type Blow = { target: string; strike(): Promise<void> };

type Fault = { kind: string; weight: number; aim(scene: Scene): Blow };

type Scene = { house: House; services: Services; redis: Redis; dice: Dice };

/** Longer than the lease, so that the process is declared dead; and shorter. */
const beyondLease = (dice: Dice): number => dice.between(TIMES.lease + 800, TIMES.lease * 2);
const withinLease = (dice: Dice): number => dice.between(300, TIMES.lease / 2);

const FAULTS: readonly Fault[] = [
  ofProcess('worker killed', 'worker', 6, killed),
  ofProcess('worker stopped beyond the lease', 'worker', 3, async (one, dice) =>
    frozen(one, beyondLease(dice)),
  ),
  ofProcess('worker stopped for a moment', 'worker', 1, async (one, dice) => frozen(one, withinLease(dice))),
  ofProcess('worker stopped with rows in hand', 'worker', 2, async (one, dice, { postgres }) => {
    await untilHolding(one, postgres.url);
    await frozen(one, dice.chance(0.5) ? beyondLease(dice) : withinLease(dice));
  }),
  ofProcess('worker drained', 'worker', 3, drained),
  ofProcess('API killed', 'api', 3, killed),
  ofProcess('API stopped beyond the lease', 'api', 1, async (one, dice) => frozen(one, beyondLease(dice))),
  ofProcess('API drained', 'api', 1, drained),
  ofProcess('connections to Postgres cut', null, 4, async ({ network }) => network.postgres.cut()),
  ofProcess('connections to Postgres silent', null, 2, async ({ network }) => {
    network.postgres.silence();
    await sleep(TIMES.lease);
  }),
  ofProcess('Postgres behind a slow network', null, 2, async ({ network }, dice) => {
    network.postgres.hold();
    await sleep(dice.chance(0.5) ? beyondLease(dice) : withinLease(dice));
    network.postgres.flow();
  }),
  ofProcess('connections to Redis cut', null, 1, async ({ network }) => network.redis.cut()),
  ofProcess('connections to Redis silent', null, 1, async ({ network }) => {
    network.redis.silence();
    await sleep(TIMES.lease);
  }),
  ofService(
    'Redis flushed',
    'redis',
    3,
    async ({ redis }) => void (await redis.flushall().catch(() => undefined)),
  ),
  ofService('Redis killed', 'redis', 1, async ({ services, dice }) => {
    await services.redis.kill();
    await sleep(dice.between(0, 4_000));
    await insist(() => services.redis.start());
  }),
  ofService('Redis paused', 'redis', 1, async ({ services, dice }) => {
    await paused(services.redis, dice.between(1_000, 6_000));
  }),
  ofService('Postgres restarted', 'postgres', 1, async ({ services, dice }) => {
    await services.postgres.stop();
    await sleep(dice.between(0, 2_000));
    await insist(() => services.postgres.start());
  }),
  ofService('Postgres killed', 'postgres', 1, async ({ services, dice }) => {
    await services.postgres.kill();
    await sleep(dice.between(0, 2_000));
    await insist(() => services.postgres.start());
  }),
  ofService('Postgres paused for a moment', 'postgres', 1, async ({ services, dice }) => {
    await paused(services.postgres, withinLease(dice));
  }),
  ofService('Postgres paused beyond the lease', 'postgres', 0.5, async ({ services, dice }) => {
    await paused(services.postgres, beyondLease(dice));
  }),
];

function ofProcess(
  kind: string,
  which: Member['kind'] | null,
  weight: number,
  strike: (member: Member, dice: Dice, services: Services) => Promise<void>,
): Fault {
  return {
    kind,
    weight,
    aim({ house, services, dice }) {
      const member = dice.pick(house.members.filter((one) => which === null || one.kind === which));
      return { target: member.name, strike: () => strike(member, dice, services) };
    },
  };
}

function ofService(
  kind: string,
  target: 'postgres' | 'redis',
  weight: number,
  strike: (scene: Scene) => Promise<void>,
): Fault {
  return { kind, weight, aim: (scene) => ({ target, strike: () => strike(scene) }) };
}

async function killed(member: Member, dice: Dice): Promise<void> {
  await member.end('SIGKILL');
  await sleep(dice.between(0, 2_000));
  await member.start();
}

async function drained(member: Member, dice: Dice): Promise<void> {
  await member.end('SIGTERM');
  await sleep(dice.between(0, 500));
  await member.start();
}

/** Polls for a time at which one of its transactions has written a row, and not for long. */
async function untilHolding({ child }: Member, url: string): Promise<void> {
  if (child === null) return;
  const sql = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => undefined });
  const end = performance.now() + 3_000;
  try {
    while (performance.now() < end) {
      const holding = await sql`
        select 1 from pg_stat_activity a join nightshift.processes p on p.session_name = a.application_name
        where p.pid = ${child.pid} and p.dead_at is null and a.backend_xid is not null limit 1`;
      if (holding.length > 0) return;
    }
  } catch {
    // Postgres has a fault, too: the process is stopped at any point.
  } finally {
    await sql.end({ timeout: 0 });
  }
}

async function frozen({ child }: Member, ms: number): Promise<void> {
  child?.signal('SIGSTOP');
  await sleep(ms);
  child?.signal('SIGCONT');
}

async function paused(service: OwnService, ms: number): Promise<void> {
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

/** `count` faults, spread over `ms`. `told` receives each as it begins. */
export function startStorm(
  house: House,
  services: Services,
  dice: Dice,
  plan: { count: number; ms: number; stopped: AbortSignal },
  told: (struck: Struck) => void,
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
  const strikeOnce = (): void => {
    const scene = { house, services, redis, dice };
    for (let tries = 0; tries < 20; tries += 1) {
      const fault = dice.weighted(FAULTS);
      const blow = fault.aim(scene);
      const { target } = blow;
      if (busy.has(target)) continue;
      const at = performance.now();
      const one: Struck = { at: at - begun, kind: fault.kind, target, ms: 0, missed: null };
      struck.push(one);
      told(one);
      busy.add(target);
      under.push(
        blow
          .strike()
          .catch((error: unknown) => {
            one.missed = String(error);
          })
          .finally(() => {
            one.ms = performance.now() - at;
            busy.delete(target);
          }),
      );
      return;
    }
  };
  const rage = async (): Promise<void> => {
    for (const due of moments(plan.count, plan.ms, dice)) {
      await sleep(Math.max(0, due - (performance.now() - begun)), undefined, { signal: plan.stopped });
      strikeOnce();
    }
  };
  const over = rage()
    .catch((error: unknown) => {
      if (!plan.stopped.aborted) throw error;
    })
    .then(() => Promise.all(under))
    .then(() => redis.disconnect());
  return { struck, over };
}

/** `count` times within `ms`, in order. */
export function moments(count: number, ms: number, dice: Dice): number[] {
  return Array.from({ length: count }, () => dice.next() * ms).sort((a, b) => a - b);
}
