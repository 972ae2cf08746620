/** One job of 100 tool cycles: the duration of a cycle at the start and at the end, and its CPU cost. */
import { BOTH, postAll, untilEnded, withSystems, type Bench, type Scenario } from '../bench.ts';
import { median, type Figure } from '../figures.ts';
import type { Running } from '../process.ts';
import type { System } from '../system.ts';
import { cpuSeconds } from '../usage.ts';

const CYCLES = 100;
const EDGE = 20;
const JOBS = 5;

/** Milliseconds per cycle: of the first ones, of the last ones, and of CPU. */
type Round = { early: number; late: number; cpu: number };

export const tools100: Scenario = {
  about: 'a job of 100 tool cycles',
  run: (bench) =>
    withSystems(bench, BOTH, async (systems) => {
      const rounds = new Map<string, Round[]>();
      for (const system of systems) {
        const worker = await system.startWorker(100);
        for (let count = 0; count <= bench.rounds; count += 1) {
          const round = await measure(bench, system, worker);
          const { name } = system.kind;
          bench.say(`${name}: ${round.early.toFixed(2)} ms per cycle, at the end ${round.late.toFixed(2)} ms`);
          if (count > 0) rounds.set(name, [...(rounds.get(name) ?? []), round]);
        }
        await worker.end();
      }
      const of = (name: string, value: (round: Round) => number): number => median((rounds.get(name) ?? []).map(value));
      const line = (name: string, unit: string, value: (round: Round) => number): Figure => ({
        name,
        unit,
        nightshift: of('nightshift', value),
        baseline: of('baseline', value),
        goal: null,
      });
      return [
        line(`a tool cycle, the first ${EDGE} of ${CYCLES}`, 'ms', ({ early }) => early),
        line(`a tool cycle, the last ${EDGE} of ${CYCLES}`, 'ms', ({ late }) => late),
        line('a tool cycle, mean', 'ms CPU of the worker', ({ cpu }) => cpu),
      ];
    }),
};

async function measure(bench: Bench, system: System, worker: Running): Promise<Round> {
  const contexts = await system.createContexts(JOBS);
  await bench.provider.ask('play', { steps: CYCLES + 1 });
  const before = cpuSeconds(worker.pid);
  const cycles: number[][] = [];
  for (const context of contexts) {
    await postAll(bench, system, [context]);
    await untilEnded(bench, system, [context]);
    const asked = (await bench.provider.ask('observed', null)).filter(({ kind }) => kind === 'request');
    if (asked.length !== CYCLES + 1)
      throw new Error(`The model received ${asked.length} requests instead of ${CYCLES + 1}.`);
    cycles.push(asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? Number.NaN)));
  }
  return {
    early: median(cycles.flatMap((all) => all.slice(0, EDGE))),
    late: median(cycles.flatMap((all) => all.slice(-EDGE))),
    cpu: ((cpuSeconds(worker.pid) - before) / (JOBS * CYCLES)) * 1_000,
  };
}
