// A complete run: the platform starts, clients and faults act on it together, then the faults stop and everything has
// to become idle; then the checks run.
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOutside } from '../e2e/outside/outside-tools.ts';
import type { Switches } from './clients/actions.ts';
import { startApproving } from './clients/approving.ts';
import { openAsker, type Asker } from './clients/requests.ts';
import { violationsOf } from './checks/all.ts';
import { createContexts, startCrowd } from './clients/clients.ts';
import type { Crowd } from './clients/crowd.ts';
import { startStorm, type Storm } from './faults.ts';
import { replay, startFollowers, type Followers } from './clients/followers.ts';
import { openPhases } from './phases.ts';
import { openPlatform, type Platform } from './platform.ts';
import type { ChaosOptions } from './options.ts';
import { random } from './random.ts';
import { readOfTools, readStored, readReturned, readUnrest } from './world/read-world.ts';
import { readSchedules } from './world/schedules.ts';
import { serviceOf, type Orders } from './world/service.ts';
import { inputsOfOrders, inputsOfSchedules, inputsOfWorkers, stopsBelow } from './world/worker-inputs.ts';
import { startHooks } from './clients/webhooks.ts';
import type { Services } from './services.ts';
import { startOrders } from './clients/orders.ts';
import { startSchedules } from './clients/schedules.ts';
import { revokeKeys } from './clients/keys.ts';
import { startRepairs } from './clients/repairs.ts';
import { startTenants } from './clients/tenants.ts';
import { startTelling } from './clients/settling-outcomes.ts';
import type { Operator } from './operator.ts';
import { readOperated } from './world/operated.ts';
import { foundOut } from './world/unanswered.ts';
import type { Struck, Violation, World } from './world/world.ts';

export type Outcome = {
  options: ChaosOptions;
  world: World;
  violations: Violation[];
  acceptMs: number[];
  statuses: Map<number, number>;
  /** From the end of the faults until all was idle; null: it never was. */
  settledMs: number | null;
  tookMs: number;
};

export type Setting = {
  services: Services;
  switches: Switches;
  /** Where logs go, and `progress.log`: what was printed, with times. */
  folder: string;
  print(line: string): void;
  /** Ends clients and faults early; everything that has begun is finished and checked. */
  stopped: AbortSignal;
};

const TELL_EVERY_MS = 15_000;
/** How long the last clients may take to begin once the last one is due, in milliseconds. */
const BEGUN_WITHIN_MS = 120_000;
/** How long deletions and webhooks may take beyond the time in which all has to be idle, in milliseconds. */
const FINISHED_WITHIN_MS = 60_000;
/** How long followers and replays may take to catch up once all is idle. */
const CATCH_UP_MS = 30_000;
/** How long everything that the API returns may take to read, in milliseconds. */
const READ_WITHIN_MS = 90_000;

export async function runChaos(options: ChaosOptions, setting: Setting): Promise<Outcome> {
  const begun = performance.now();
  const { services, switches, folder } = setting;
  mkdirSync(folder, { recursive: true });
  const print = (line: string): void => {
    appendFileSync(path.join(folder, 'progress.log'), `${new Date().toISOString()}  ${line.trim()}\n`);
    setting.print(line);
  };
  const outside = path.join(folder, 'outside.txt');
  const platform = await openPlatform(services, {
    workers: options.workers,
    apis: options.apis,
    folder,
    outside,
    logins: options.logins,
  });
  const ending: (() => Promise<void>)[] = [];
  try {
    const throws = random(options.seed);
    const phases = openPhases(print);
    const givenUp = new AbortController();
    const ask = openAsker(platform.apis, throws.of('ask'), givenUp.signal);
    const contexts = await createContexts(ask, options.contexts);
    const plan = { ms: options.minutes * 60_000, stopped: setting.stopped };
    const hooks = await startHooks(ask, services.postgres.url, throws.of('webhooks'));
    ending.push(() => hooks.close());
    const timed = await startSchedules(ask, contexts, services.postgres.url, throws.of('schedules'), {
      inputs: options.inputs,
      ms: plan.ms,
    });
    const crowd = startCrowd(ask, contexts, throws.of('crowd'), switches, {
      ...plan,
      inputs: options.inputs,
      webhook: hooks.named,
    });
    const ordering = startOrders(platform.shop, services.postgres.url, contexts, throws.of('orders'), {
      ...plan,
      inputs: options.inputs,
    });
    const followers = startFollowers(
      platform.apis,
      contexts,
      throws.of('followers'),
      switches.stream ? options.streams : 0,
    );
    const repairs = startRepairs(ask, services.postgres.url, throws.of('repairs'), {
      ms: plan.ms,
      batches: Math.max(2, Math.round(options.inputs / 250)),
      replays: Math.max(2, Math.round(options.inputs / 50)),
    });
    const operator: Operator = { ask, databaseUrl: services.postgres.url, pauses: [], drains: [] };
    const storm = startStorm(
      platform,
      services,
      throws.of('storm'),
      { ...plan, count: options.faults, operator, lost: repairs.lost },
      ({ at, kind, target }) => print(`  ${seconds(at)}  ${kind}: ${target}`),
    );
    const teller = startTelling(ask, outside, throws.of('telling'));
    const others = startTenants(ask, services.postgres.url, throws.of('tenants'), plan.ms, hooks.isPending);
    const revokedKeys = revokeKeys(ask, throws.of('keys'), plan.ms);
    const approver = startApproving(ask, throws.of('approving'));
    const telling = setInterval(() => print(progress(crowd, storm, begun)), TELL_EVERY_MS);
    await phases.during('faults', storm.over);
    await phases.during('clients that have not begun', posted(crowd, options, setting));
    print(`the faults are over: ${progress(crowd, storm, begun)}`);
    const calm = performance.now();
    const leftMs = (): number => Math.max(0, options.settleSeconds * 1_000 - (performance.now() - calm));
    // Clients give up then, so that a run that gets stuck ends, too, and says where.
    const timeUp = setTimeout(() => {
      phases.stop();
      givenUp.abort();
    }, leftMs() + FINISHED_WITHIN_MS);
    const [quietAt, orders] = await Promise.all([
      phases.during('schedules', timed.finish(leftMs())),
      phases.during('the outbox', ordering.finish(leftMs())),
    ]);
    const [unrest] = await Promise.all([
      phases.during('clients and jobs', settle(crowd, services.postgres.url, leftMs())),
      phases.during('the tenant that was suspended', others.settled()),
    ]);
    const settledMs = unrest.length === 0 ? performance.now() - calm : null;
    const schedules = { made: timed.made, quietAt, ...(await readSchedules(services.postgres.url)) };
    const delivered = await phases.during('webhooks', hooks.drain(leftMs()));
    const stored = delivered ?? (await hooks.stored());
    const [ofOthers, repaired] = await Promise.all([
      phases.during('deletions of tenants', others.finish()),
      phases.during('repairs', repairs.finish()),
    ]);
    const webhooks = { arrivals: hooks.arrivals, stored, isDrained: delivered !== null, goneAt: Date.now() };
    const keys = await phases.during('revoked keys', revokedKeys);
    await phases.during('decisions', Promise.all([teller.end(), approver.end()]));
    clearInterval(telling);
    clearTimeout(timeUp);
    const unsettled = [...unrest, ...phases.late()];
    print(settledMs === null ? 'not idle in time' : `all idle ${seconds(settledMs)} later`);
    print('reading what there is now');
    const world = await readWorld(
      services,
      ask.until(AbortSignal.timeout(READ_WITHIN_MS)),
      platform,
      crowd,
      followers,
      storm.struck,
      {
        decisions: approver.decisions,
        reported: teller.reported,
        others: ofOthers,
        schedules,
        webhooks,
        keys,
        repairs: repaired,
      },
      operator,
      orders,
      unsettled,
      outside,
      switches,
    );
    givenUp.abort();
    await crowd.done;
    return {
      options,
      world,
      violations: violationsOf(world),
      acceptMs: crowd.acceptMs,
      statuses: ask.statuses,
      settledMs,
      tookMs: performance.now() - begun,
    };
  } finally {
    await platform.close();
    for (const end of ending) await end();
  }
}

/** Resolves once every client has begun, or the run was stopped, or no client gets through. */
async function posted(crowd: Crowd, options: ChaosOptions, { stopped }: Setting): Promise<void> {
  const deadline = performance.now() + options.minutes * 60_000 + BEGUN_WITHIN_MS;
  while (crowd.inputs.length < options.inputs && !stopped.aborted && performance.now() < deadline) await sleep(100);
}

/** Until clients are done and no work is in progress; the rest at the timeout, as text. */
async function settle(crowd: Crowd, databaseUrl: string, withinMs: number): Promise<string[]> {
  const deadline = performance.now() + withinMs;
  const late = new AbortController();
  await Promise.race([crowd.done, sleep(withinMs, undefined, { signal: late.signal }).catch(() => undefined)]);
  late.abort();
  for (;;) {
    const unrest = await readUnrest(databaseUrl);
    if (unrest.length === 0 || performance.now() > deadline) return unrest;
    await sleep(200);
  }
}

async function readWorld(
  { postgres }: Services,
  ask: Asker,
  platform: Platform,
  crowd: Crowd,
  followers: Followers,
  faults: Struck[],
  persons: Pick<World, 'decisions' | 'reported' | 'others' | 'schedules' | 'webhooks' | 'keys' | 'repairs'>,
  { pauses, drains }: Operator,
  orders: Orders,
  unsettled: string[],
  outside: string,
  switches: Switches,
): Promise<World> {
  const stored = await readStored(postgres.url);
  const heads = new Map(stored.contexts.map(({ id, head_seq: head }) => [id, head]));
  await followers.finish(heads, CATCH_UP_MS);
  const replays = [];
  const [api] = platform.apis;
  if (switches.stream && api !== undefined) {
    const deadline = performance.now() + READ_WITHIN_MS;
    const leftMs = (): number => Math.max(0, Math.min(CATCH_UP_MS, deadline - performance.now()));
    for (const [id, head] of heads) replays.push(await replay(api, id, head, leftMs()));
  }
  const returned = await readReturned(ask, [...heads.keys()]);
  const { sightings, interrupts, replies, changes, settings, compacts, repeats } = crowd;
  writeFileSync(outside, '', { flag: 'a' });
  const effects = readOutside(outside);
  const ofTools = await readOfTools(postgres.url);
  return {
    ...stored,
    faults,
    inputs: [
      ...crowd.inputs.map((input) => foundOut(input, stored)),
      ...inputsOfWorkers(crowd.inputs, stored, crowd.sweeps),
      ...inputsOfSchedules(persons.schedules, stored, crowd.sweeps),
      ...inputsOfOrders(orders, stored, crowd.sweeps),
    ],
    sightings,
    interrupts,
    stops: [...crowd.stops, ...stopsBelow(crowd.stops, stored.contexts)],
    replies,
    ...persons,
    changes,
    settings,
    compacts,
    repeats,
    odd: ask.odd,
    unsettled,
    outside: effects,
    service: serviceOf(stored, { ...ofTools, outside: effects, orders }),
    operated: { pauses, drains, ...(await readOperated(postgres.url)) },
    returned,
    streams: followers.streams,
    replays,
    incidents: platform.incidents,
  };
}

function progress({ inputs }: Crowd, { struck }: Storm, begun: number): string {
  const accepted = inputs.filter(({ outcome }) => outcome.kind === 'accepted').length;
  return `${seconds(performance.now() - begun)}  ${inputs.length} posted, ${accepted} accepted, ${struck.length} faults`;
}

/** For the logs of one run. */
export function folderOf(seed: number): string {
  const moment = new Date().toISOString().replaceAll(/[:.]/g, '-');
  return path.join(import.meta.dirname, '../../.nightshift/chaos', `${moment}-seed-${seed}`);
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
