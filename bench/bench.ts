/** Interfaces and helpers of all scenarios. */
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../src/dev/free-port.ts';
import { baseline, raw } from './baseline/system.ts';
import type { Figure } from './figures.ts';
import type { Answer, LoadProtocol } from './load/protocol.ts';
import { nightshift, source } from './nightshift/system.ts';
import type { Observation, ProviderProtocol } from './provider/protocol.ts';
import type { Services } from './services.ts';
import { countStatements, lineOf, statementsOf } from './statements.ts';
import { inputFor, openSystem, type ProviderFormat, type System, type SystemKind, type SystemName } from './system.ts';
import type { Companion } from './talk.ts';

export type Bench = {
  services: Services;
  provider: Companion<ProviderProtocol>;
  load: Companion<LoadProtocol>;
  providerUrl: string;
  format: ProviderFormat;
  /** The number of measured rounds; results are their medians. */
  rounds: number;
  /** Of `runs`: the runs of a round (also of `logins`), and whether clients follow the event stream, not a long poll. */
  runs: number;
  follow: boolean;
  /** Of `resume`: whether the baseline is measured too. */
  baseline: boolean;
  /** Of `fairness`: a part of the names of the situations that are measured; null: all of them, and the shares. */
  situation: string | null;
  /** Of the soak: its duration, and inputs per second. */
  minutes: number;
  rate: number;
  profile: boolean;
  /** Aborted when the benchmark should stop. */
  signal: AbortSignal;
  say: (line: string) => void;
};

export type Scenario = { about: string; run(bench: Bench): Promise<Figure[]> };

const KINDS: Record<SystemName, SystemKind> = { nightshift, source, baseline, raw };

/** Runs `work` on separate services and stops them afterwards, also after errors. */
export async function withSystems<T>(
  bench: Bench,
  names: readonly SystemName[],
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
    const counted = profile && (await Promise.all(systems.map(({ sql }) => countStatements(sql)))).every(Boolean);
    const result = await work(systems);
    if (counted) for (const system of systems) await sayStatements(bench, system);
    return result;
  } finally {
    for (const system of systems) await system.stop();
  }
}

let places = 0;

async function sayStatements({ say }: Bench, { kind, sql }: System): Promise<void> {
  say(`${kind.name}: the most expensive statements`);
  for (const statement of (await statementsOf(sql)).slice(0, 15)) say(`  ${lineOf(statement)}`);
}

/** For scenarios that both systems support. */
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

/** Resolves when the last run of each context has also ended in the database. */
export async function untilEnded({ signal }: Bench, { kind, sql }: System, contexts: readonly string[]): Promise<void> {
  const ids = JSON.stringify(contexts);
  for (;;) {
    signal.throwIfAborted();
    const [row] = await sql.unsafe<{ count: number }[]>(kind.unfinished, [ids]);
    if (row?.count === 0) return;
    await pause(5);
  }
}

/** The first observation of this kind for each mark. */
export function firstByMark(observed: readonly Observation[], kind: Observation['kind']): Map<string, number> {
  const first = new Map<string, number>();
  for (const one of observed) if (one.kind === kind && !first.has(one.mark)) first.set(one.mark, one.at);
  return first;
}
