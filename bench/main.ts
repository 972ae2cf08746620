/** The benchmark: measures Nightshift and a baseline, prints a table, writes JSON. It is not a test and never fails. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArguments } from './arguments.ts';
import type { Scenario } from './bench.ts';
import type { Figure } from './figures.ts';
import type { LoadProtocol } from './load/protocol.ts';
import type { ProviderProtocol } from './provider/protocol.ts';
import { resultOf, tableOf } from './report.ts';
import { approval } from './scenarios/approval.ts';
import { subscribers } from './scenarios/subscribers.ts';
import { branches } from './scenarios/branches.ts';
import { cancel } from './scenarios/cancel.ts';
import { consolePage } from './scenarios/console.ts';
import { conversations } from './scenarios/conversations.ts';
import { crash } from './scenarios/crash.ts';
import { deltas } from './scenarios/deltas.ts';
import { history } from './scenarios/history.ts';
import { mcp } from './scenarios/mcp.ts';
import { memory } from './scenarios/memory.ts';
import { search } from './scenarios/search.ts';
import { soak } from './scenarios/soak.ts';
import { spawn } from './scenarios/spawn.ts';
import { start } from './scenarios/start.ts';
import { streams } from './scenarios/streams.ts';
import { throughput } from './scenarios/throughput.ts';
import { tools100 } from './scenarios/tools100.ts';
import { transfer } from './scenarios/transfer.ts';
import { startServices } from './services.ts';
import { startCompanion } from './talk.ts';

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  throughput,
  start,
  cancel,
  crash,
  memory,
  history,
  conversations,
  branches,
  tools100,
  approval,
  mcp,
  deltas,
  streams,
  subscribers,
  search,
  transfer,
  spawn,
  console: consolePage,
};

/** Runs only when named, because it takes an hour. */
const EXTRA: Readonly<Record<string, Scenario>> = { soak };
const ALL = { ...SCENARIOS, ...EXTRA };

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(): Promise<void> {
  const { scenarios, json, ...options } = parseArguments(process.argv.slice(2));
  const chosen = scenarios.length === 0 ? Object.keys(SCENARIOS) : scenarios;
  const unknown = chosen.find((name) => !Object.hasOwn(ALL, name));
  if (unknown !== undefined) {
    const known = Object.entries(ALL).map(([name, { about }]) => `  ${name}: ${about}`);
    throw new Error(`Unknown scenario ${unknown}. Available scenarios:\n${known.join('\n')}`);
  }
  const services = await startServices(say);
  const provider = startCompanion<ProviderProtocol>('provider/main.ts');
  const load = startCompanion<LoadProtocol>('load/main.ts');
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      stopping.abort(new Error('stopped'));
      // All waits are aborted and clean up.
      void provider.end();
      void load.end();
    });
  }
  const figures: Figure[] = [];
  try {
    say(services.line);
    const providerUrl = `http://127.0.0.1:${await provider.ask('listen', null)}`;
    const { signal } = stopping;
    const bench = { services, provider, load, providerUrl, ...options, signal, say: indented };
    for (const name of chosen) {
      const scenario = ALL[name];
      say(`${name}: ${scenario?.about}`);
      figures.push(...((await scenario?.run(bench)) ?? []));
    }
    process.stdout.write(`\n${tableOf(figures)}\n`);
    await mkdir(path.dirname(json), { recursive: true });
    const result = resultOf(services.line, options.format, options.rounds, figures);
    await writeFile(json, `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await provider.end();
    await load.end();
    await services.stop();
  }
}

function indented(line: string): void {
  say(`  ${line}`);
}

await main();
