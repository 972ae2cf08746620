/**
 * The cost of a step after a history of 10 to 100,000 messages. The database time to write a step should not depend on
 * the length. The CPU time of the worker process does, because every call sends the whole prompt.
 */
import { tagOf } from '../../test/services/statements.ts';
import { BOTH, postAll, untilEnded, withSystems, type Bench, type Scenario } from '../bench.ts';
import { growth, median, type Figure } from '../figures.ts';
import type { Running } from '../process.ts';
import { SCRIPT } from '../provider/script.ts';
import { countStatements, statementsOf, type Statement } from '../statements.ts';
import type { System } from '../system.ts';
import { cpuSeconds } from '../usage.ts';

/** Numbers of messages, and the number of runs measured at each. */
const RUNS = new Map([
  [10, 20],
  [1_000, 20],
  [100_000, 2],
]);
const LENGTHS = [...RUNS.keys()];
/** The maximum growth of the cost to write a step. */
const BOUND = 1.5;
const CONCURRENCY = 4;

/** Database time and blocks of the statements that write a step. Null if the database has no statistics. */
type Writing = { ms: number; blocks: number };
type Cost = { cpuMs: number; writing: Writing | null };

export const history: Scenario = {
  about: 'cost of a step after 10 to 100,000 messages',
  run: (bench) =>
    withSystems(bench, BOTH, async (systems) => {
      const costs = new Map<string, Cost[]>();
      for (const system of systems) {
        const worker = await system.startWorker(CONCURRENCY);
        await measure(bench, system, worker, 10);
        for (let round = 0; round < bench.rounds; round += 1) {
          for (const length of LENGTHS) {
            const cost = await measure(bench, system, worker, length);
            const key = `${system.kind.name} ${length}`;
            bench.say(
              `${key}: ${cost.cpuMs.toFixed(2)} ms CPU, ${cost.writing?.ms.toFixed(3) ?? '?'} ms and ${cost.writing?.blocks.toFixed(0) ?? '?'} blocks to write`,
            );
            costs.set(key, [...(costs.get(key) ?? []), cost]);
          }
        }
        await worker.end();
      }
      const of = (key: string, value: (cost: Cost) => number | null): number | null => {
        const all = (costs.get(key) ?? []).map(value).filter((one) => one !== null);
        return all.length === 0 ? null : median(all);
      };
      const line = (name: string, unit: string, length: number, value: (cost: Cost) => number | null): Figure => ({
        name: `${name}, ${length.toLocaleString('en')} messages`,
        unit,
        nightshift: of(`nightshift ${length}`, value),
        baseline: of(`baseline ${length}`, value),
        goal: null,
      });
      const ms = ({ writing }: Cost): number | null => writing?.ms ?? null;
      const blocks = ({ writing }: Cost): number | null => writing?.blocks ?? null;
      const rises = (name: string, value: (cost: Cost) => number | null): Figure => {
        const at = (length: number | undefined): number => of(`nightshift ${length}`, value) ?? Number.NaN;
        return growth(name, at(LENGTHS[0]), at(LENGTHS.at(-1)), BOUND);
      };
      return [
        ...LENGTHS.map((length) => line('a step written', 'ms in Postgres', length, ms)),
        rises('a step written, ms', ms),
        ...LENGTHS.map((length) => line('a step written', 'blocks', length, blocks)),
        rises('a step written, blocks', blocks),
        ...LENGTHS.map((length) => line('a step', 'ms CPU of the worker', length, ({ cpuMs }) => cpuMs)),
      ];
    }),
};

async function measure(bench: Bench, system: System, worker: Running, length: number): Promise<Cost> {
  const { sql, kind } = system;
  const runs = RUNS.get(length) ?? 0;
  const contexts = await system.createContexts(runs);
  for (const statement of kind.addHistory) await sql.unsafe(statement, [JSON.stringify(contexts), length]);
  // So that the first measured statements do not pay for the inserted rows.
  await sql`vacuum analyze`;
  await bench.provider.ask('play', {});
  const counts = await countStatements(sql);
  const before = cpuSeconds(worker.pid);
  await postAll(bench, system, contexts, CONCURRENCY);
  await bench.provider.ask('untilFinals', runs);
  await untilEnded(bench, system, contexts);
  const steps = runs * SCRIPT.steps;
  const cpuMs = ((cpuSeconds(worker.pid) - before) / steps) * 1_000;
  return { cpuMs, writing: counts ? await writingOf(system, steps) : null };
}

/** The sum over the statements that write a step. */
async function writingOf({ sql }: System, steps: number): Promise<Writing> {
  const writing = (await statementsOf(sql)).filter(({ text }) => tagOf(text) === 'contexts.append');
  const sum = (value: (statement: Statement) => number): number =>
    writing.reduce((all, statement) => all + value(statement), 0) / steps;
  return { ms: sum(({ totalMs }) => totalMs), blocks: sum(({ blocks }) => blocks) };
}
