/** Kills the only worker process in the middle of a run, starts it again, and waits for the next model request. */
import { setTimeout as pause } from 'node:timers/promises';
import { firstByMark, postAll, untilEnded, withSystems, type Bench, type Scenario } from '../bench.ts';
import { median, percentile, type Figure, type Goal } from '../figures.ts';
import type { Running } from '../process.ts';
import type { System, SystemName } from '../system.ts';
import { monotonic } from '../talk.ts';

/** Of a round. The baseline waits half a minute or more for its queue to notice. */
const KILLS: Partial<Record<SystemName, number>> = { nightshift: 5, baseline: 1 };
const CONCURRENCY = 100;
/** So slow that the worker process dies during its third answer. */
const SLOW = { tokenMs: 100 };
const REQUESTS_BEFORE = 3;

export const resume: Scenario = {
  about: 'from SIGKILL of the only worker process, started again at once, to the next model request of its run',
  run: (bench) =>
    withSystems(bench, bench.baseline ? ['nightshift', 'baseline'] : ['nightshift'], async (systems) => {
      const delays = new Map<SystemName, number[]>();
      for (const system of systems) delays.set(system.kind.name, await killRepeatedly(bench, system));
      const line = (name: string, value: (all: number[]) => number, goal: Goal | null = null): Figure => {
        const of = (system: SystemName): number | null => {
          const all = delays.get(system);
          return all === undefined ? null : value(all);
        };
        return {
          name: `resume after SIGKILL, ${name}`,
          unit: 'ms',
          nightshift: of('nightshift'),
          baseline: of('baseline'),
          goal,
        };
      };
      return [
        line('p50', median, { of: 'value', is: 'at most', bound: 1_200 }),
        line('slowest', (all) => percentile(all, 1)),
      ];
    }),
};

async function killRepeatedly(bench: Bench, system: System): Promise<number[]> {
  const { name } = system.kind;
  const kills = (KILLS[name] ?? 0) * bench.rounds;
  const delays: number[] = [];
  let worker = await system.startWorker(CONCURRENCY);
  for (let count = 0; count < kills; count += 1) {
    const resumed = await kill(bench, system, worker);
    bench.say(`${name}: ${resumed.ms.toFixed(0)} ms`);
    delays.push(resumed.ms);
    worker = resumed.worker;
  }
  await worker.end();
  return delays;
}

async function kill(bench: Bench, system: System, victim: Running): Promise<{ ms: number; worker: Running }> {
  const { provider, signal } = bench;
  const contexts = await system.createContexts(1);
  await provider.ask('play', SLOW);
  await postAll(bench, system, contexts);
  while ((await provider.ask('counts', null)).requests < REQUESTS_BEFORE) await pause(10, undefined, { signal });
  await provider.ask('observed', null);
  const killed = monotonic();
  await victim.kill();
  const worker = await system.startWorker(CONCURRENCY);
  for (;;) {
    const firstAt = firstByMark(await provider.ask('observed', null), 'request').get(contexts[0] ?? '');
    if (firstAt === undefined) {
      await pause(10, undefined, { signal });
      continue;
    }
    await provider.ask('play', {});
    await untilEnded(bench, system, contexts);
    return { ms: firstAt - killed, worker };
  }
}
