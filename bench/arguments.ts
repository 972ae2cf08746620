/** `npm run bench -- [scenario …] [--rounds n] [--provider openai|anthropic] [--profile] [--json file] [--minutes n] [--rate n]` */
import { parseArgs } from 'node:util';
import { PROVIDERS, type ProviderFormat } from './system.ts';

export type Arguments = {
  /** Empty: all scenarios except the soak. */
  scenarios: string[];
  rounds: number;
  format: ProviderFormat;
  profile: boolean;
  json: string;
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
      minutes: { type: 'string', default: '60' },
      rate: { type: 'string', default: '16' },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number of at least 1');
  const format = PROVIDERS.find((name) => name === values.provider);
  if (format === undefined) throw new Error(`--provider must be ${PROVIDERS.join(' or ')}`);
  const { profile, json } = values;
  const minutes = above0('--minutes', values.minutes);
  const rate = above0('--rate', values.rate);
  return { scenarios: positionals, rounds, format, profile, json, minutes, rate };
}

function above0(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`${name} must be a number greater than 0`);
  return value;
}
