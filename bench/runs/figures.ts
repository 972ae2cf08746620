/** The figures of `runs`: medians of rounds, beside the baseline with the SDK and the one over raw HTTP. */
import { median, type Figure, type Goal } from '../figures.ts';
import type { SystemName } from '../system.ts';
import { sumOf, type Stored, type Totals } from '../writes.ts';
import { allCpu, systemCpu, type ProcessCpu } from './process-cpu.ts';

/** `cpu`: seconds per 1,000 steps; `totals`: per run; `startMs`, `runMs`: medians of an idle system. */
export type Round = { stepsPerS: number; cpu: ProcessCpu; totals: Totals; startMs: number; runMs: number };

/** `stored`: per run. */
export type Measured = { rounds: readonly Round[]; stored: Stored };

type Value = (measured: Measured) => number;

const THROUGHPUT: Goal = { of: 'ratio', is: 'at least', bound: 1.1 };
const ALL_CPU: Goal = { of: 'ratio', is: 'at most', bound: 0.9 };
const START: Goal = { of: 'ratio', is: 'at most', bound: 1.3 };
const REDIS_COMMANDS: Goal = { of: 'ratio', is: 'at most', bound: 1 };
const INSERTED: Goal = { of: 'value', is: 'at most', bound: 24 };
const UPDATED: Goal = { of: 'value', is: 'at most', bound: 15.5 };
const WAL: Goal = { of: 'value', is: 'at most', bound: 13_000 };
const CPU = 's/1,000 steps';

export function figuresOf(measured: ReadonlyMap<SystemName, Measured>): Figure[] {
  const of = (name: SystemName, value: Value): number | null => {
    const one = measured.get(name);
    const result = one === undefined ? Number.NaN : value(one);
    return Number.isNaN(result) ? null : result;
  };
  const line = (beside: SystemName, name: string, unit: string, value: Value, goal: Goal | null): Figure => ({
    name: `runs: ${name}`,
    unit,
    nightshift: of('nightshift', value),
    baseline: of(beside, value),
    goal,
  });
  const hand = (name: string, unit: string, value: Value, goal: Goal | null = null): Figure =>
    line('baseline', name, unit, value, goal);
  /** Two lines, the second one beside the baseline over raw HTTP, if that was measured. */
  const both = (name: string, unit: string, value: Value, goal: Goal | null = null): Figure[] => {
    const first = hand(name, unit, value, goal);
    return measured.has('raw') ? [first, line('raw', `${name}, beside raw HTTP`, unit, value, null)] : [first];
  };
  return [
    ...both('throughput', 'steps/s', stepsPerS, THROUGHPUT),
    ...both('CPU of everything', CPU, cpuOf(allCpu), ALL_CPU),
    ...both('CPU of API, worker, PostgreSQL and Redis', CPU, cpuOf(systemCpu)),
    hand('CPU of the API process', CPU, cpuIn('api')),
    ...both('CPU of the worker process', CPU, cpuIn('worker')),
    hand('CPU of PostgreSQL', CPU, cpuIn('postgres')),
    hand('CPU of Redis', CPU, cpuIn('redis')),
    ...both('start when idle, p50', 'ms', startMs, START),
    ...both('a run when idle, from the first request to its end, p50', 'ms', runMs),
    hand('rows inserted', 'per run', ({ stored }) => sumOf(stored, 'inserted'), INSERTED),
    hand('rows updated', 'per run', ({ stored }) => sumOf(stored, 'updated'), UPDATED),
    hand('rows deleted', 'per run', ({ stored }) => sumOf(stored, 'deleted')),
    hand('WAL', 'bytes per run', total('walBytes'), WAL),
    hand('commits that wrote', 'per run', total('writingCommits')),
    hand('commits, read-only ones too', 'per run', ({ stored }) => stored.commits),
    hand('Redis commands', 'per run', total('redisCommands'), REDIS_COMMANDS),
  ];
}

const middle =
  (value: (round: Round) => number): Value =>
  ({ rounds }) =>
    median(rounds.map(value).filter((one) => !Number.isNaN(one)));

const stepsPerS = middle((round) => round.stepsPerS);
const startMs = middle((round) => round.startMs);
const runMs = middle((round) => round.runMs);
const cpuOf = (value: (cpu: ProcessCpu) => number): Value => middle(({ cpu }) => value(cpu));
const cpuIn = (name: keyof ProcessCpu): Value => middle(({ cpu }) => cpu[name]);
const total = (name: keyof Totals): Value => middle(({ totals }) => totals[name]);
