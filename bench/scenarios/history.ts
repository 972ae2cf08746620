/**
 * What a step costs behind a history of 10 to 10,000 messages. The time in the database of what a step writes should not
 * depend on it; the prompt is sent whole at every call, so what the worker process spends does.
 */
import { BOTH, postAll, untilEnded, withSystems } from '../bench.ts';
import type { Bench, Scenario } from '../bench.ts';
import { median } from '../figures.ts';
import type { Figure } from '../figures.ts';
import type { Running } from '../process.ts';
import { SCRIPT } from '../provider/script.ts';
import { countStatements, statementsOf } from '../statements.ts';
import type { System } from '../system.ts';
import { cpuSeconds } from '../usage.ts';

const LENGTHS = [10, 100, 1_000, 10_000];
const RUNS = 20;
const CONCURRENCY = 4;

/** `writeMs`: what the database took for the statements that write a step; null where it does not count. */
type Cost = { cpuMs: number; writeMs: number | null };

export const history: Scenario = {
  about: 'cost of a step behind 10 to 10,000 messages',
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
              `${key}: ${cost.cpuMs.toFixed(2)} ms CPU, ${cost.writeMs?.toFixed(3) ?? '?'} ms to write`,
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
      const line = (
        name: string,
        unit: string,
        length: number,
        value: (cost: Cost) => number | null,
      ): Figure => ({
        name: `${name}, ${length.toLocaleString('en')} messages`,
        unit,
        nightshift: of(`nightshift ${length}`, value),
        baseline: of(`baseline ${length}`, value),
        goal: null,
      });
      return [
        ...LENGTHS.map((length) =>
          line('a step written', 'ms in Postgres', length, ({ writeMs }) => writeMs),
        ),
        ...LENGTHS.map((length) => line('a step', 'ms CPU of the worker', length, ({ cpuMs }) => cpuMs)),
      ];
    }),
};

async function measure(bench: Bench, system: System, worker: Running, length: number): Promise<Cost> {
  const { sql, kind } = system;
  const contexts = await system.createContexts(RUNS);
  for (const statement of kind.addHistory) await sql.unsafe(statement, [JSON.stringify(contexts), length]);
  await sql`analyze`;
  await bench.provider.ask('play', {});
  const counts = await countStatements(sql);
  const before = cpuSeconds(worker.pid);
  await postAll(bench, system, contexts, CONCURRENCY);
  await bench.provider.ask('untilFinals', RUNS);
  await untilEnded(bench, system, contexts);
  const steps = RUNS * SCRIPT.steps;
  return {
    cpuMs: ((cpuSeconds(worker.pid) - before) / steps) * 1_000,
    writeMs: counts ? (await writingMs(system)) / steps : null,
  };
}

/** Of the statements that write what a step adds. */
async function writingMs({ sql }: System): Promise<number> {
  const writing = (await statementsOf(sql)).filter(
    ({ text }) => /insert into messages/.test(text) && !/into jobs|generate_series/.test(text),
  );
  return writing.reduce((sum, { totalMs }) => sum + totalMs, 0);
}
