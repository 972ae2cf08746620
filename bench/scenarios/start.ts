/** The time from the POST of an input to the model request, on an idle system. */
import { BOTH, firstByMark, postAll, untilEnded, withSystems, type Bench, type Scenario } from '../bench.ts';
import { percentile } from '../figures.ts';
import type { System } from '../system.ts';

const INPUTS = 100;
const GAP_MS = 25;
/** Warm-up requests, because the first hundreds run code that is not compiled yet. */
const WARM_UP = { inputs: 1_000, gapMs: 5 };

export const start: Scenario = {
  about: 'from POST to the first model request, idle',
  run: (bench) =>
    withSystems(bench, BOTH, async (systems) => {
      for (const system of systems) await system.startWorker(100);
      const delays = new Map<string, number[]>();
      for (const system of systems) await measure(bench, system, WARM_UP.inputs, WARM_UP.gapMs);
      for (let round = 0; round < bench.rounds; round += 1) {
        for (const system of systems) {
          const { name } = system.kind;
          const measured = await measure(bench, system, INPUTS, GAP_MS);
          bench.say(`${name}: p50 ${percentile(measured, 0.5).toFixed(2)} ms`);
          delays.set(name, [...(delays.get(name) ?? []), ...measured]);
        }
      }
      const at = (name: string, share: number): number => percentile(delays.get(name) ?? [], share);
      return [0.5, 0.99].map((share) => ({
        name: `start, p${share * 100}`,
        unit: 'ms',
        nightshift: at('nightshift', share),
        baseline: at('baseline', share),
        goal: share === 0.5 ? { of: 'value', is: 'at most', bound: 5 } : null,
      }));
    }),
};

async function measure(bench: Bench, system: System, inputs: number, gapMs: number): Promise<number[]> {
  const contexts = await system.createContexts(inputs);
  await bench.provider.ask('play', { steps: 1 });
  const posted = await postAll(bench, system, contexts, 1, gapMs);
  await bench.provider.ask('untilFinals', inputs);
  await untilEnded(bench, system, contexts);
  const firstAt = firstByMark(await bench.provider.ask('observed', null), 'request');
  return contexts.map((id, index) => (firstAt.get(id) ?? Number.NaN) - (posted[index]?.sentAt ?? 0));
}
