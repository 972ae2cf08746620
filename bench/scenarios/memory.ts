/** The memory of one worker process with 1,000 contexts in flight. */
import { BOTH, postAll, withSystems, type Scenario } from '../bench.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { residentMb } from '../usage.ts';

const CONTEXTS = 1_000;
const SETTLING_MS = 3_000;

export const memory: Scenario = {
  about: 'one worker process with 1,000 contexts in flight',
  run: (bench) =>
    withSystems(bench, BOTH, async (systems) => {
      const megabytes = new Map<string, number>();
      for (const system of systems) {
        const worker = await system.startWorker(CONTEXTS);
        const contexts = await system.createContexts(CONTEXTS);
        await bench.provider.ask('play', { steps: 1, tokens: 6_000, tokenMs: 200 });
        await postAll(bench, system, contexts);
        await bench.provider.ask('untilOpen', CONTEXTS);
        await pause(SETTLING_MS);
        megabytes.set(system.kind.name, residentMb(worker.pid));
        await worker.kill();
      }
      return [
        {
          name: 'memory, 1,000 contexts in flight',
          unit: 'MB',
          nightshift: megabytes.get('nightshift') ?? null,
          baseline: megabytes.get('baseline') ?? null,
          goal: { of: 'value', is: 'at most', bound: 250 },
        },
      ];
    }),
};
