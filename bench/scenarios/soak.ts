/**
 * An hour of steady load with contexts that are created and deleted. Memory, latency and tables at the end should equal
 * those after the warm-up. Samples are written to a file after every interval, so that an aborted soak still has
 * results.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { withSystems, type Bench, type Scenario } from '../bench.ts';
import type { Figure } from '../figures.ts';
import { lineOf, toSample, type Sample } from '../soak/sample.ts';
import type { UsersProtocol } from '../soak/protocol.ts';
import { openStore, type Store } from '../soak/stored.ts';
import { figuresOf, leftovers, type Rest } from '../soak/outcome.ts';
import { totalCpu } from '../services.ts';
import { watchProcesses, type Watch, type Watched } from '../soak/watch.ts';
import { startCompanion, type Companion } from '../talk.ts';
import type { System } from '../system.ts';

const CONTEXTS = 150;
const FOLLOWERS = 36;
const WORKERS = 2;
const CONCURRENCY = 100;
/** A slow model with occasional failures. */
const SCRIPT = { latencyMs: 40, tokenMs: 5, failEvery: 1_000, limitEvery: 20_000 };
const LONGEST_STRETCH_MS = 60_000;
const FEWEST_STRETCHES = 12;
const LOOKS = 6;
const FILE = 'bench/results/soak.json';

type Soak = {
  bench: Bench;
  store: Store;
  watch: Watch;
  users: Companion<UsersProtocol>;
  samples: Sample[];
};

export const soak: Scenario = {
  about: 'flat memory, flat latency, no table that grows, under steady load',
  run: (bench) =>
    withSystems(bench, ['nightshift'], async ([system]) => {
      if (system === undefined) return [];
      const users = startCompanion<UsersProtocol>('soak/users.ts');
      const store = openStore(system.sql, system.place.redisUrl);
      try {
        const processes = await startProcesses(system);
        const watch = watchProcesses(system.url, processes, () => store.processNames());
        await bench.provider.ask('play', SCRIPT);
        const newContext = system.newContext();
        const crowd = { url: system.url, newContext, contexts: CONTEXTS, followers: FOLLOWERS };
        await users.ask('begin', { ...crowd, rate: bench.rate });
        return await watchOver({ bench, store, watch, users, samples: [] });
      } finally {
        store.close();
        await users.end();
      }
    }),
};

async function startProcesses(system: System): Promise<Watched[]> {
  const processes: Watched[] = [{ name: 'API', pid: system.api.pid, kind: 'api' }];
  for (let count = 1; count <= WORKERS; count += 1) {
    const { pid } = await system.startWorker(CONCURRENCY);
    processes.push({ name: `worker ${count}`, pid, kind: 'worker' });
  }
  return processes;
}

async function watchOver(soak: Soak): Promise<Figure[]> {
  const { bench, samples } = soak;
  let rest: Rest | null = null;
  try {
    await sampleAll(soak);
    rest = await leave(soak);
  } catch (error) {
    // Ctrl-C was pressed; every process receives the signal itself, perhaps before this one.
    await pause(500);
    if (!bench.signal.aborted) throw error;
  }
  const figures = figuresOf(samples, rest);
  write({ rate: bench.rate, figures, rest, samples });
  return figures;
}

async function sampleAll(soak: Soak): Promise<void> {
  const { bench, store, watch, users, samples } = soak;
  const wholeMs = bench.minutes * 60_000;
  const stretchMs = Math.min(LONGEST_STRETCH_MS, wholeMs / FEWEST_STRETCHES);
  const began = performance.now();
  let services = totalCpu(await bench.services.cpuSeconds());
  let last = began;
  for (let count = 1; count * stretchMs <= wholeMs; count += 1) {
    for (let look = 1; look <= LOOKS; look += 1) {
      const due = began + (count - 1 + look / LOOKS) * stretchMs;
      await pause(Math.max(0, due - performance.now()), undefined, { signal: bench.signal });
      await watch.look();
    }
    // Discards the observations of the provider, which are not needed here.
    await bench.provider.ask('observed', null);
    const account = await users.ask('account', null);
    const processes = watch.take();
    const [used, now] = [totalCpu(await bench.services.cpuSeconds()), performance.now()];
    const share = services === null || used === null ? null : (used - services) / ((now - last) / 1_000);
    [services, last] = [used, now];
    const sample = toSample((now - began) / 60_000, account, await store.read(), processes, share);
    samples.push(sample);
    write({ rate: bench.rate, samples });
    bench.say(lineOf(sample));
  }
}

/** Deletes all contexts. Remaining rows and keys are leftovers. */
async function leave({ bench, store, users, samples }: Soak): Promise<Rest> {
  bench.say('all contexts are deleted');
  const { keys, trouble } = await users.ask('leave', null);
  const { tables } = await store.read();
  const redisKeys = await store.redisKeys();
  for (const one of [...samples.flatMap((sample) => sample.trouble), ...trouble].slice(0, 20)) {
    bench.say(`trouble: ${one}`);
  }
  for (const [name, { rows, megabytes }] of Object.entries(tables)) {
    if (rows > 0) bench.say(`left in ${name}: ${rows} rows, ${megabytes.toFixed(1)} MB`);
  }
  for (const form of leftovers(redisKeys)) bench.say(`left in Redis: ${redisKeys[form]} of ${form}`);
  return { tables, redisKeys, keys };
}

function write(result: object): void {
  mkdirSync(path.dirname(FILE), { recursive: true });
  writeFileSync(FILE, `${JSON.stringify({ at: new Date().toISOString(), ...result }, null, 1)}\n`);
}
