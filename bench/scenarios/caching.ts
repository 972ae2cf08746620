/**
 * How much of a prompt a provider can read from its cache: the beginning that equals the request before, byte for byte.
 * A conversation of ten jobs with four tool calls each; another worker process runs the second half, and therefore reads
 * the history that the first one wrote.
 */
import { BOTH, postAll, untilEnded, withSystems, type Bench, type Scenario } from '../bench.ts';
import type { Figure } from '../figures.ts';
import { SCRIPT } from '../provider/script.ts';
import { shareOfBefore, shareShared } from '../prefix.ts';
import type { System, SystemName } from '../system.ts';

const JOBS_BEFORE = 5;
const JOBS_AFTER = 5;

export const caching: Scenario = {
  about: 'the share of each prompt that is the same as before, in a conversation of ten jobs with tools',
  run: (bench) =>
    withSystems(bench, BOTH, async (systems) => {
      const prompts = new Map<SystemName, string[]>();
      for (const system of systems) prompts.set(system.kind.name, await promptsOf(bench, system));
      const line = (name: string, value: (prompts: string[]) => number, goal: Figure['goal']): Figure => ({
        name: `caching: ${name}`,
        unit: '%',
        nightshift: 100 * value(prompts.get('nightshift') ?? []),
        baseline: 100 * value(prompts.get('baseline') ?? []),
        goal,
      });
      return [
        line('of the request before, sent again unchanged', shareOfBefore, { of: 'value', is: 'at least', bound: 100 }),
        line('of all prompts, equal to the request before', shareShared, null),
      ];
    }),
};

async function promptsOf(bench: Bench, system: System): Promise<string[]> {
  const contexts = await system.createContexts(1);
  await bench.provider.ask('play', { keepsPrompts: true });
  for (const jobs of [JOBS_BEFORE, JOBS_AFTER]) {
    const worker = await system.startWorker(1);
    for (let job = 0; job < jobs; job += 1) {
      await postAll(bench, system, contexts);
      await untilEnded(bench, system, contexts);
    }
    await worker.end();
  }
  const prompts = await bench.provider.ask('prompts', null);
  const expected = (JOBS_BEFORE + JOBS_AFTER) * SCRIPT.steps;
  if (prompts.length !== expected) throw new Error(`The model received ${prompts.length} prompts, not ${expected}.`);
  bench.say(`${system.kind.name}: ${prompts.length} prompts, the last of ${prompts.at(-1)?.length} characters`);
  return prompts;
}
