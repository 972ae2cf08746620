/**
 * `npm run bench -- [scenario …] [--rounds n] [--provider openai|anthropic] [--profile] [--json file] [--runs n]
 * [--follow] [--baseline] [--situation text] [--minutes n] [--rate n]`
 */
import { parseArgs } from 'node:util';
import { PROVIDERS, type ProviderFormat } from './system.ts';

export type Arguments = {
  /** Empty: all, except those that run only when named. */
  scenarios: string[];
  rounds: number;
  format: ProviderFormat;
  profile: boolean;
  json: string;
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
};

const RESULT = 'bench/results/latest.json';

/** Throws for unknown arguments. */
export function parseArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      provider: { type: 'string', default: 'openai' },
      profile: { type: 'boolean', default: false },
      json: { type: 'string', default: RESULT },
      runs: { type: 'string', default: '2000' },
      follow: { type: 'boolean', default: false },
      baseline: { type: 'boolean', default: false },
      situation: { type: 'string' },
      minutes: { type: 'string', default: '60' },
      rate: { type: 'string', default: '16' },
    },
  });
  const rounds = countOf('--rounds', values.rounds);
  const runs = countOf('--runs', values.runs);
  const format = PROVIDERS.find((name) => name === values.provider);
  if (format === undefined) throw new Error(`--provider must be ${PROVIDERS.join(' or ')}`);
  const { profile, json, follow, baseline, situation = null } = values;
  const minutes = above0('--minutes', values.minutes);
  const rate = above0('--rate', values.rate);
  return { scenarios: positionals, rounds, format, profile, json, runs, follow, baseline, situation, minutes, rate };
}

function countOf(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} must be a whole number of at least 1`);
  return value;
}

function above0(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`${name} must be a number greater than 0`);
  return value;
}
