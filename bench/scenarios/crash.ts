/** Kills a worker process with 100 contexts in flight and measures the time until each one's next model request. */
import { BOTH, firstByMark, postAll, withSystems, type Bench, type Scenario } from '../bench.ts';
import { percentile, type Figure } from '../figures.ts';
import type { System } from '../system.ts';
import { monotonic } from '../talk.ts';

const CONTEXTS = 100;

export const crash: Scenario = {
  about: 'from SIGKILL of a worker process to the next model request of each of its contexts',
  run: (bench) =>
    withSystems(bench, BOTH, async (systems) => {
      const delays = new Map<string, number[]>();
      for (const system of systems) {
        const { name } = system.kind;
        // The baseline waits a minute for its queue to notice, so it runs only once.
        const rounds = name === 'baseline' ? 1 : bench.rounds;
        for (let round = 0; round < rounds; round += 1) {
          const measured = await measure(bench, system);
          bench.say(`${name}: p50 ${percentile(measured, 0.5).toFixed(0)} ms`);
          delays.set(name, [...(delays.get(name) ?? []), ...measured]);
        }
      }
      return [0.5, 0.99].map((share): Figure => ({
        name: `crash to resume, p${share * 100}`,
        unit: 'ms',
        nightshift: percentile(delays.get('nightshift') ?? [], share),
        baseline: percentile(delays.get('baseline') ?? [], share),
        goal: share === 0.5 ? { of: 'value', is: 'at most', bound: 2_000 } : null,
      }));
    }),
};

async function measure(bench: Bench, system: System): Promise<number[]> {
  const contexts = await system.createContexts(CONTEXTS);
  await bench.provider.ask('play', { steps: 1, tokens: 6_000, tokenMs: 100 });
  const victim = await system.startWorker(CONTEXTS);
  await postAll(bench, system, contexts);
  await bench.provider.ask('untilOpen', CONTEXTS);
  const heir = await system.startWorker(CONTEXTS);
  await bench.provider.ask('observed', null);
  const killed = monotonic();
  await victim.kill();
  // The calls of the killed process are closed first; then those of the other process start.
  const resumed = new Map<string, number>();
  while (resumed.size < CONTEXTS) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const firstAt = firstByMark(await bench.provider.ask('observed', null), 'request');
    for (const [mark, at] of firstAt) if (!resumed.has(mark)) resumed.set(mark, at - killed);
  }
  await bench.provider.ask('play', { steps: 1 });
  await heir.kill();
  return [...resumed.values()];
}
