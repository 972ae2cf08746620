/** What every scenario is given, and what all of them do. */
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../src/dev/free-port.ts';
import { baseline } from './baseline/system.ts';
import type { Figure } from './figures.ts';
import type { Answer, LoadProtocol } from './load/protocol.ts';
import { nightshift } from './nightshift/system.ts';
import type { Observation, ProviderProtocol } from './provider/protocol.ts';
import type { Services } from './services.ts';
import { countStatements, lineOf, statementsOf } from './statements.ts';
import { inputFor, openSystem } from './system.ts';
import type { ProviderFormat, System, SystemKind } from './system.ts';
import type { Companion } from './talk.ts';

export type Bench = {
  services: Services;
  provider: Companion<ProviderProtocol>;
  load: Companion<LoadProtocol>;
  providerUrl: string;
  format: ProviderFormat;
  /** Measured rounds, of which medians are taken. */
  rounds: number;
  /** Of the soak: how long it lasts, and inputs a second. */
  minutes: number;
  rate: number;
  profile: boolean;
  /** Somebody wants the benchmark to end. */
  signal: AbortSignal;
  say: (line: string) => void;
};

export type Scenario = { about: string; run(bench: Bench): Promise<Figure[]> };

const KINDS: Record<SystemKind['name'], SystemKind> = { nightshift, baseline };

/** On services of their own; stopped when `work` has ended, however it ends. */
export async function withSystems<T>(
  bench: Bench,
  names: readonly SystemKind['name'][],
  work: (systems: readonly System[]) => Promise<T>,
): Promise<T> {
  const systems: System[] = [];
  const { providerUrl, format, profile } = bench;
  try {
    for (const name of names) {
      const place = await bench.services.place(`${name}_${places++}`);
      const setting = { place, providerUrl, format, profile };
      systems.push(await openSystem(KINDS[name], setting, await freePort(), bench.load));
    }
    const counted =
      profile && (await Promise.all(systems.map(({ sql }) => countStatements(sql)))).every(Boolean);
    const result = await work(systems);
    if (counted) for (const system of systems) await sayStatements(bench, system);
    return result;
  } finally {
    for (const system of systems) await system.stop();
  }
}

let places = 0;

async function sayStatements({ say }: Bench, { kind, sql }: System): Promise<void> {
  say(`${kind.name}: the dearest statements`);
  for (const statement of (await statementsOf(sql)).slice(0, 15)) say(`  ${lineOf(statement)}`);
}

/** Both systems, for what both can do. */
export const BOTH = ['nightshift', 'baseline'] as const;

/** Posts one input to each context. */
export function postAll(
  { load }: Bench,
  { url }: System,
  contexts: readonly string[],
  atOnce = 32,
  gapMs = 0,
): Promise<Answer[]> {
  return load.ask('send', { url, requests: contexts.map(inputFor), atOnce, gapMs });
}

/** Resolves once the last run of each context has ended in the database too. */
export async function untilEnded(
  { signal }: Bench,
  { kind, sql }: System,
  contexts: readonly string[],
): Promise<void> {
  const ids = JSON.stringify(contexts);
  for (;;) {
    signal.throwIfAborted();
    const [row] = await sql.unsafe<{ count: number }[]>(kind.unfinished, [ids]);
    if (row?.count === 0) return;
    await pause(5);
  }
}

/** The first thing of its kind that the provider observed of each mark. */
export function firstByMark(
  observed: readonly Observation[],
  kind: Observation['kind'],
): Map<string, number> {
  const first = new Map<string, number>();
  for (const one of observed) if (one.kind === kind && !first.has(one.mark)) first.set(one.mark, one.at);
  return first;
}
