/**
 * Operations of clients and claims after histories of 10 to 100,000 messages: pages, prompts, branches, edits. The cost
 * of a step is measured in `history`.
 */
import { withSystems, type Scenario } from '../bench.ts';
import { readPages } from '../conversations/pages.ts';
import { readPrompts } from '../conversations/prompts.ts';
import { Samples } from '../conversations/samples.ts';
import { write } from '../conversations/writes.ts';
import { giveHistory, type Long } from '../nightshift/history.ts';

const LENGTHS = [10, 1_000, 100_000];
const DEPTHS = [0, 1, 10];

export const conversations: Scenario = {
  about: 'pages, prompts, branches and edits after 10 to 100,000 messages',
  run: (bench) =>
    withSystems(bench, ['nightshift'], async ([system]) => {
      if (system === undefined) return [];
      // A worker process publishes the available tools. Jobs queued later are not run.
      const worker = await system.startWorker(1);
      const contexts = await system.createContexts(LENGTHS.length * DEPTHS.length);
      await worker.end();
      const longs: Long[] = [];
      for (const depth of DEPTHS) {
        for (const length of LENGTHS) {
          const contextId = contexts[longs.length] ?? '';
          longs.push(await giveHistory(system.sql, contextId, length, depth));
        }
      }
      await system.sql`vacuum analyze messages`;
      bench.say(`${longs.length} conversations created`);
      const warm = new Samples();
      const samples = new Samples();
      for (let round = 0; round <= bench.rounds; round += 1) {
        for (const long of longs) {
          const into = round === 0 ? warm : samples;
          await readPages(bench, system, long, into);
          if (long.depth === 0) await write(bench, system, long, into);
          await readPrompts(system, long, into);
        }
        bench.say(round === 0 ? 'warm-up done' : `round ${round} of ${bench.rounds}`);
      }
      return samples.figures();
    }),
};
