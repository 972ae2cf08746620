// A complete run: the platform starts, clients and faults act on it together, then the faults stop and everything has
// to become idle; then the checks run.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOutside } from '../e2e/outside/outside-tools.ts';
import type { Switches } from './clients/actions.ts';
import { startApproving } from './clients/approving.ts';
import { openAsker } from './clients/ask.ts';
import type { Asker } from './clients/ask.ts';
import { violationsOf } from './checks/all.ts';
import { createContexts, startCrowd } from './clients/clients.ts';
import type { Crowd } from './clients/crowd.ts';
import { startStorm } from './faults.ts';
import type { Storm, Struck } from './faults.ts';
import { replay, startFollowers } from './clients/followers.ts';
import type { Followers } from './clients/followers.ts';
import { openHouse } from './platform.ts';
import type { House } from './platform.ts';
import type { ChaosOptions } from './options.ts';
import { dice } from './random.ts';
import { readStored, readTold, readUnrest } from './world/read-world.ts';
import { inputsOfWorkers, stopsBelow } from './world/relatives.ts';
import type { Services } from './services.ts';
import { startTelling } from './clients/settling-outcomes.ts';
import type { Violation, World } from './world/world.ts';

export type Outcome = {
  options: ChaosOptions;
  world: World;
  struck: Struck[];
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
  /** Where logs go. */
  folder: string;
  say(line: string): void;
  /** Ends clients and faults early; everything that has begun is finished and checked. */
  stopped: AbortSignal;
};

const TELL_EVERY_MS = 15_000;
/** How long followers and replays may take to catch up once all is idle. */
const CATCH_UP_MS = 30_000;

export async function runChaos(options: ChaosOptions, setting: Setting): Promise<Outcome> {
  const begun = performance.now();
  const { services, switches, folder } = setting;
  mkdirSync(folder, { recursive: true });
  const outside = path.join(folder, 'outside.txt');
  const house = await openHouse(services, { workers: options.workers, apis: options.apis, folder, outside });
  try {
    const throws = dice(options.seed);
    const givenUp = new AbortController();
    const ask = openAsker(house.apis, throws.of('ask'), givenUp.signal);
    const contexts = await createContexts(ask, options.contexts);
    const plan = { ms: options.minutes * 60_000, stopped: setting.stopped };
    const crowd = startCrowd(ask, contexts, throws.of('crowd'), switches, {
      ...plan,
      inputs: options.inputs,
    });
    const followers = startFollowers(
      house.apis,
      contexts,
      throws.of('followers'),
      switches.stream ? options.streams : 0,
    );
    const storm = startStorm(
      house,
      services,
      throws.of('storm'),
      { ...plan, count: options.faults },
      ({ at, kind, target }) => setting.say(`  ${seconds(at)}  ${kind}: ${target}`),
    );
    const teller = startTelling(ask, outside, throws.of('telling'));
    const approver = startApproving(ask, throws.of('approving'));
    const telling = setInterval(() => setting.say(progress(crowd, storm, begun)), TELL_EVERY_MS);
    await Promise.all([storm.over, posted(crowd, options, setting)]);
    setting.say(`the faults are over: ${progress(crowd, storm, begun)}`);
    const calm = performance.now();
    const unsettled = await settle(crowd, services.postgres.url, options.settleSeconds * 1_000);
    const settledMs = unsettled.length === 0 ? performance.now() - calm : null;
    clearInterval(telling);
    await Promise.all([teller.end(), approver.end()]);
    setting.say(settledMs === null ? 'not idle in time' : `all idle ${seconds(settledMs)} later`);
    const world = await readWorld(
      services,
      ask,
      house,
      crowd,
      followers,
      { decisions: approver.decisions, said: teller.said },
      unsettled,
      outside,
      switches,
    );
    givenUp.abort();
    await crowd.done;
    return {
      options,
      world,
      struck: storm.struck,
      violations: violationsOf(world),
      acceptMs: crowd.acceptMs,
      statuses: ask.statuses,
      settledMs,
      tookMs: performance.now() - begun,
    };
  } finally {
    await house.close();
  }
}

/** Resolves once every client has begun, or the run was stopped. */
async function posted(crowd: Crowd, options: ChaosOptions, { stopped }: Setting): Promise<void> {
  while (crowd.inputs.length < options.inputs && !stopped.aborted) await sleep(100);
}

/** Until clients are done and no work is in progress; the rest at the timeout, as text. */
async function settle(crowd: Crowd, databaseUrl: string, withinMs: number): Promise<string[]> {
  const deadline = performance.now() + withinMs;
  const late = new AbortController();
  await Promise.race([
    crowd.done,
    sleep(withinMs, undefined, { signal: late.signal }).catch(() => undefined),
  ]);
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
  house: House,
  crowd: Crowd,
  followers: Followers,
  persons: Pick<World, 'decisions' | 'said'>,
  unsettled: string[],
  outside: string,
  switches: Switches,
): Promise<World> {
  const stored = await readStored(postgres.url);
  const heads = new Map(stored.contexts.map(({ id, head_seq: head }) => [id, head]));
  await followers.finish(heads, CATCH_UP_MS);
  const replays = [];
  const [api] = house.apis;
  if (switches.stream && api !== undefined) {
    for (const [id, head] of heads) replays.push(await replay(api, id, head, CATCH_UP_MS));
  }
  const told = await readTold(ask, [...heads.keys()]);
  const { sightings, interrupts, replies, changes, settings, compacts, repeats } = crowd;
  writeFileSync(outside, '', { flag: 'a' });
  return {
    ...stored,
    inputs: [...crowd.inputs, ...inputsOfWorkers(crowd.inputs, stored, crowd.sweeps)],
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
    outside: readOutside(outside),
    told,
    streams: followers.streams,
    replays,
    incidents: house.incidents,
  };
}

function progress({ inputs }: Crowd, { struck }: Storm, begun: number): string {
  const accepted = inputs.filter(({ outcome }) => outcome.kind === 'accepted').length;
  return `${seconds(performance.now() - begun)}  ${inputs.length} posted, ${accepted} accepted, ${struck.length} faults`;
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
