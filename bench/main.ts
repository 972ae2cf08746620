/** The benchmark: measures Nightshift and a baseline, prints a table, writes JSON. It is not a test and never fails. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArguments } from './arguments.ts';
import type { Figure } from './figures.ts';
import type { LoadProtocol } from './load/protocol.ts';
import type { ProviderProtocol } from './provider/protocol.ts';
import { resultOf, tableOf } from './report.ts';
import { EXTRA, SCENARIOS } from './scenarios/all.ts';
import { startServices } from './services.ts';
import { startCompanion } from './talk.ts';

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
