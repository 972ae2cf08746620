/** Processes without work: CPU until they are ready, and memory afterwards. The bundle, and the sources. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { withSystems, type Bench, type Scenario } from '../bench.ts';
import { alone, median, type Figure, type Goal } from '../figures.ts';
import { BUNDLED_MAIN } from '../nightshift/bundle.ts';
import { SOURCE_MAIN } from '../nightshift/system.ts';
import type { Running } from '../process.ts';
import type { SystemName } from '../system.ts';
import { endedChildrenCpu, residentMb } from '../usage.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const SYSTEMS = ['nightshift', 'source', 'baseline'] as const;
const CONCURRENCY = 100;
const SETTLING_MS = 10_000;
/** Starts of the command; the operating system counts CPU in steps of 10 ms. */
const STARTS = 10;

type Cost = { startCpu: number; residentMb: number };
type Round = { api: Cost; worker: Cost };

export const idle: Scenario = {
  about: 'processes without work: CPU until ready, memory, and CPU of `nightshift --version`',
  async run(bench) {
    const rounds: Map<SystemName, Round>[] = [];
    for (let count = 0; count < bench.rounds; count += 1) rounds.push(await measure(bench));
    return figuresOf(rounds);
  },
};

/** All processes become idle together, but start one after the other. */
function measure(bench: Bench): Promise<Map<SystemName, Round>> {
  return withSystems(bench, SYSTEMS, async (systems) => {
    const workers: Running[] = [];
    for (const system of systems) workers.push(await system.startWorker(CONCURRENCY));
    await pause(SETTLING_MS, undefined, { signal: bench.signal });
    return new Map(
      systems.map(({ kind, api }, index) => {
        const round = { api: costOf(api), worker: costOf(workers[index]) };
        bench.say(`${kind.name}: API ${lineOf(round.api)}, worker ${lineOf(round.worker)}`);
        return [kind.name, round];
      }),
    );
  });
}

function costOf(running: Running | undefined): Cost {
  if (running === undefined) throw new Error('A worker process is missing.');
  return { startCpu: running.startCpu, residentMb: residentMb(running.pid) };
}

function lineOf(cost: Cost): string {
  return `${cost.startCpu.toFixed(2)} s of CPU until ready, ${cost.residentMb.toFixed(0)} MB`;
}

function figuresOf(rounds: readonly Map<SystemName, Round>[]): Figure[] {
  const of = (name: SystemName, value: (round: Round) => number): number =>
    median(rounds.flatMap((round) => round.get(name) ?? []).map(value));
  const lines = (name: string, unit: string, bound: number, value: (round: Round) => number): Figure[] => [
    {
      name: `idle: ${name}`,
      unit,
      nightshift: of('nightshift', value),
      baseline: of('baseline', value),
      goal: { of: 'value', is: 'at most', bound },
    },
    alone(`idle: ${name}, from sources`, unit, of('source', value)),
  ];
  const version = (name: string, program: string, goal: Goal | null = null): Figure =>
    alone(`idle: nightshift --version${name}`, 's of CPU', cpuOfVersion(program), goal);
  return [
    ...lines('memory of the API process', 'MB', 130, ({ api }) => api.residentMb),
    ...lines('memory of the worker process', 'MB', 130, ({ worker }) => worker.residentMb),
    ...lines('the API process until it is ready', 's of CPU', 0.8, ({ api }) => api.startCpu),
    ...lines('the worker process until it is ready', 's of CPU', 0.8, ({ worker }) => worker.startCpu),
    version('', BUNDLED_MAIN, { of: 'value', is: 'at most', bound: 0.15 }),
    version(', from sources', SOURCE_MAIN),
  ];
}

function cpuOfVersion(program: string): number | null {
  const before = endedChildrenCpu();
  for (let count = 0; count < STARTS; count += 1) {
    const { status } = spawnSync(process.execPath, [path.join(ROOT, program), '--version'], { stdio: 'ignore' });
    if (status !== 0) throw new Error(`${program} --version failed.`);
  }
  const after = endedChildrenCpu();
  return before === null || after === null ? null : (after - before) / STARTS;
}
