/** One round of `runs` on one system: many clients at once, then one client of an idle system. */
import { firstByMark, type Bench } from '../bench.ts';
import { median } from '../figures.ts';
import type { RunTimes } from '../load/protocol.ts';
import type { Running } from '../process.ts';
import { SCRIPT } from '../provider/script.ts';
import type { System } from '../system.ts';
import { monotonic } from '../talk.ts';
import { readTotals, type Totals } from '../writes.ts';
import type { Round } from './figures.ts';
import { cpuPerStep, readCpu } from './process-cpu.ts';

export const CLIENTS = 100;
/** Runs of an idle system, one after the other. */
export const IDLE_RUNS = 100;
const GAP_MS = 25;

export async function measure(bench: Bench, system: System, worker: Running): Promise<Round> {
  return { ...(await measureLoad(bench, system, worker)), ...(await measureIdle(bench, system)) };
}

type Load = Pick<Round, 'stepsPerS' | 'cpu' | 'totals'>;
type Idle = Pick<Round, 'startMs' | 'runMs'>;

async function measureLoad(bench: Bench, system: System, worker: Running): Promise<Load> {
  const { provider, load, services, runs } = bench;
  const processes = { api: system.api, worker, provider, load };
  await provider.ask('play', {});
  const before = { cpu: await readCpu(services, processes), totals: await readTotals(system) };
  const began = monotonic();
  await run(bench, system, newMarks(runs), CLIENTS);
  const seconds = (monotonic() - began) / 1_000;
  const after = { cpu: await readCpu(services, processes), totals: await readTotals(system) };
  const steps = runs * SCRIPT.steps;
  const perRun = (of: keyof Totals): number => (after.totals[of] - before.totals[of]) / runs;
  return {
    stepsPerS: steps / seconds,
    cpu: cpuPerStep(before.cpu, after.cpu, steps),
    totals: {
      writingCommits: perRun('writingCommits'),
      walBytes: perRun('walBytes'),
      redisCommands: perRun('redisCommands'),
    },
  };
}

async function measureIdle(bench: Bench, system: System): Promise<Idle> {
  await bench.provider.ask('play', {});
  const marks = newMarks(IDLE_RUNS);
  const times = await run(bench, system, marks, 1, GAP_MS);
  const firstAt = firstByMark(await bench.provider.ask('observed', null), 'request');
  const starts = marks.map((mark, index) => (firstAt.get(mark) ?? Number.NaN) - (times[index]?.sentAt ?? 0));
  return { startMs: median(starts), runMs: median(times.map(({ ms }) => ms)) };
}

/** The baseline has no event stream. */
function run({ load, follow }: Bench, system: System, marks: string[], atOnce: number, gapMs = 0): Promise<RunTimes[]> {
  const end = follow && system.kind.name === 'nightshift' ? 'stream' : 'poll';
  return load.ask('run', { url: system.url, config: system.newContext(), marks, atOnce, gapMs, end });
}

let made = 0;

function newMarks(count: number): string[] {
  return Array.from({ length: count }, () => `run-${(made += 1)}`);
}
