// A short chaos run: clients and faults act on workers and APIs, with fixed seeds. The gate runs a few seconds of it.
// `npm run chaos` is the long form, with any seed; docs/chaos.md explains its output.
import { afterEach, expect, inject, test } from 'vitest';
import { SWITCHES } from '../chaos/clients/actions.ts';
import { contextsFor, hasLogins, streamsFor } from '../chaos/options.ts';
import { summary, writeStories } from '../chaos/report.ts';
import { folderOf, runChaos } from '../chaos/run.ts';
import { depth } from '../services/depth.ts';
import { startOwnPostgres } from '../services/own-postgres.ts';
import { startOwnRedis } from '../services/own-redis.ts';
import { removeFolder } from '../services/temporary-folder.ts';
import { killChildren } from './rig/children.ts';

const INPUTS = depth(24, 150);
const redis = inject('redisUrl') !== null;
const ending: (() => Promise<void>)[] = [];

afterEach(async () => {
  await killChildren();
  for (const end of ending.splice(0).reverse()) await end();
});

test.skipIf(!redis).each(depth([7], [7, 4711]))(
  'no job is lost, duplicated or stuck: seed %i',
  { timeout: 600_000 },
  async (seed) => {
    const services = await ownServices();
    const folder = folderOf(seed);
    const options = {
      seed,
      inputs: INPUTS,
      faults: depth(4, 16),
      minutes: depth(0.1, 0.35),
      workers: depth(2, 3),
      apis: depth(1, 2),
      contexts: contextsFor(INPUTS),
      streams: streamsFor(INPUTS),
      settleSeconds: 240,
      logins: hasLogins(seed),
    };
    const setting = {
      services,
      switches: SWITCHES,
      folder,
      print: () => undefined,
      stopped: new AbortController().signal,
    };
    const outcome = await runChaos(options, setting);
    process.stdout.write(`${summary(outcome)}\n`);
    if (outcome.violations.length === 0) return removeFolder(folder);
    writeStories(folder, outcome);
    expect(outcome.violations, `logs and histories are in ${folder}`).toEqual([]);
  },
);

async function ownServices() {
  const postgres = await startOwnPostgres();
  ending.push(() => postgres.remove());
  const wakeQueue = await startOwnRedis();
  if (wakeQueue === null) throw new Error('this run has no Redis');
  ending.push(() => wakeQueue.remove());
  return { postgres, redis: wakeQueue };
}
