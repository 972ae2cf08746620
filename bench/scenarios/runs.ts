/**
 * What a client of a whole run sees, and what a run costs: a new worker for each, five model calls and four tool calls,
 * and a long poll for the end. Beside it the same by hand, with the provider's SDK and over raw HTTP.
 */
import { withSystems, type Bench, type Scenario } from '../bench.ts';
import type { Running } from '../process.ts';
import { figuresOf, type Measured, type Round } from '../runs/figures.ts';
import { CLIENTS, IDLE_RUNS, measure } from '../runs/measure.ts';
import type { System, SystemName } from '../system.ts';
import { readStored, storedPerRun, untilReported, type Stored } from '../writes.ts';

type Subject = { system: System; worker: Running; rounds: Round[] };

export const runs: Scenario = {
  about: 'whole runs with a new worker each: throughput, CPU, writes, and the start when idle',
  run: (bench) =>
    withSystems(bench, systemsFor(bench), async (systems) => {
      const subjects: Subject[] = [];
      for (const system of systems) subjects.push({ system, worker: await system.startWorker(CLIENTS), rounds: [] });
      // The first round warms up, because JIT compilation takes some thousand steps.
      await playRound(bench, subjects);
      for (const { rounds } of subjects) rounds.pop();
      await untilReported(bench.signal);
      const before = await readAll(subjects);
      for (let count = 0; count < bench.rounds; count += 1) await playRound(bench, subjects);
      await untilReported(bench.signal);
      const after = await readAll(subjects);
      const measured = subjects.map(({ system, rounds }, index): [SystemName, Measured] => {
        const runs = bench.rounds * (bench.runs + IDLE_RUNS);
        const stored = storedPerRun(before[index] ?? NOTHING, after[index] ?? NOTHING, runs);
        sayTables(bench, system, stored);
        return [system.kind.name, { rounds, stored }];
      });
      return figuresOf(new Map(measured));
    }),
};

/** The raw client speaks Chat Completions only. */
function systemsFor({ format }: Bench): SystemName[] {
  return format === 'openai' ? ['nightshift', 'baseline', 'raw'] : ['nightshift', 'baseline'];
}

async function playRound(bench: Bench, subjects: readonly Subject[]): Promise<void> {
  for (const { system, worker, rounds } of subjects) {
    const round = await measure(bench, system, worker);
    rounds.push(round);
    bench.say(lineOf(system.kind.name, round));
  }
}

const NOTHING: Stored = { commits: 0, tables: new Map() };

function readAll(subjects: readonly Subject[]): Promise<Stored[]> {
  return Promise.all(subjects.map(({ system }) => readStored(system)));
}

function lineOf(name: string, { stepsPerS, cpu, startMs, runMs }: Round): string {
  const each = Object.entries(cpu).map(([process, seconds]) => `${process} ${seconds.toFixed(3)}`);
  const idle = `idle: start ${startMs.toFixed(2)} ms, run ${runMs.toFixed(2)} ms`;
  return `${name}: ${stepsPerS.toFixed(0)} steps/s; CPU-s/1,000: ${each.join(', ')}; ${idle}`;
}

function sayTables({ say }: Bench, { kind }: System, { tables }: Stored): void {
  for (const [table, rows] of tables) {
    const [inserted, updated, deleted] = [rows.inserted, rows.updated, rows.deleted].map((each) => each.toFixed(2));
    say(`${kind.name}: ${table}: ${inserted} rows inserted, ${updated} updated, ${deleted} deleted per run`);
  }
}
