/** Steps per second and CPU seconds per 1,000 steps, with a model that answers at once and one that takes 50 ms. */
import { BOTH, postAll, untilEnded, withSystems, type Bench, type Scenario } from '../bench.ts';
import { median, type Figure } from '../figures.ts';
import type { Running } from '../process.ts';
import { SCRIPT } from '../provider/script.ts';
import { totalCpu } from '../services.ts';
import type { System } from '../system.ts';
import { monotonic } from '../talk.ts';
import { cpuSeconds } from '../usage.ts';

/**
 * Contexts of a round. The first round is a warm-up and is not counted, because JIT compilation takes some thousand
 * steps.
 */
const RUNS = 2_500;
const CONCURRENCY = 100;
const LATENCIES = [0, 50];

/** CPU seconds per 1,000 steps. */
type Round = { stepsPerS: number; workerCpu: number; apiCpu: number; servicesCpu: number; allCpu: number };

export const throughput: Scenario = {
  about: 'steps per second and CPU per step',
  run: (bench) =>
    withSystems(bench, BOTH, async (systems) => {
      const workers = new Map<System, Running>();
      for (const system of systems) workers.set(system, await system.startWorker(CONCURRENCY));
      const rounds = new Map<string, Round[]>();
      // The first round warms up.
      for (let count = 0; count <= bench.rounds; count += 1) {
        for (const latencyMs of LATENCIES) {
          for (const system of systems) {
            const worker = workers.get(system);
            if (worker === undefined) continue;
            const round = await measure(bench, system, worker, latencyMs);
            const { name } = system.kind;
            bench.say(
              `${name}, ${latencyMs} ms: ${round.stepsPerS.toFixed(0)} steps/s, ${round.workerCpu.toFixed(3)} CPU-s/1,000`,
            );
            const key = `${name} ${latencyMs}`;
            if (count > 0) rounds.set(key, [...(rounds.get(key) ?? []), round]);
          }
        }
      }
      return LATENCIES.flatMap((latencyMs) => figuresOf(rounds, latencyMs));
    }),
};

async function measure(bench: Bench, system: System, worker: Running, latencyMs: number): Promise<Round> {
  const contexts = await system.createContexts(RUNS);
  await bench.provider.ask('play', { latencyMs });
  const servicesBefore = totalCpu(await bench.services.cpuSeconds());
  const ours = [worker.pid, system.api.pid, bench.provider.pid, bench.load.pid];
  const before = ours.map(cpuSeconds);
  const began = monotonic();
  await postAll(bench, system, contexts);
  await bench.provider.ask('untilFinals', RUNS);
  await untilEnded(bench, system, contexts);
  const seconds = (monotonic() - began) / 1_000;
  const used = ours.map((pid, index) => cpuSeconds(pid) - (before[index] ?? 0));
  const servicesAfter = totalCpu(await bench.services.cpuSeconds());
  const services = servicesBefore === null || servicesAfter === null ? Number.NaN : servicesAfter - servicesBefore;
  const steps = RUNS * SCRIPT.steps;
  const each = (cpu: number): number => (cpu / steps) * 1_000;
  return {
    stepsPerS: steps / seconds,
    workerCpu: each(used[0] ?? 0),
    apiCpu: each(used[1] ?? 0),
    servicesCpu: each(services),
    allCpu: each(used.reduce((sum, one) => sum + one, services)),
  };
}

function figuresOf(rounds: Map<string, Round[]>, latencyMs: number): Figure[] {
  const of = (system: string, value: (round: Round) => number): number | null => {
    const all = (rounds.get(`${system} ${latencyMs}`) ?? []).map(value).filter((one) => !Number.isNaN(one));
    return all.length === 0 ? null : median(all);
  };
  const line = (name: string, unit: string, value: (round: Round) => number, goal: Figure['goal']): Figure => ({
    name: `${name}, model ${latencyMs} ms`,
    unit,
    nightshift: of('nightshift', value),
    baseline: of('baseline', value),
    goal,
  });
  return [
    line('throughput', 'steps/s', ({ stepsPerS }) => stepsPerS, { of: 'ratio', is: 'at least', bound: 1.15 }),
    line('CPU of the worker process', 's/1,000 steps', ({ workerCpu }) => workerCpu, {
      of: 'ratio',
      is: 'at most',
      bound: 1,
    }),
    line('CPU of the API process', 's/1,000 steps', ({ apiCpu }) => apiCpu, null),
    line('CPU of Postgres and Redis', 's/1,000 steps', ({ servicesCpu }) => servicesCpu, null),
    line('CPU of everything', 's/1,000 steps', ({ allCpu }) => allCpu, {
      of: 'ratio',
      is: 'at most',
      bound: 0.9,
    }),
  ];
}
