/** `npm run bench -- [scenario …] [--rounds n] [--provider openai|anthropic] [--profile] [--json file]` */
import { parseArgs } from 'node:util';
import { PROVIDERS } from './system.ts';
import type { ProviderFormat } from './system.ts';

export type Arguments = {
  /** Empty: all of them. */
  scenarios: string[];
  rounds: number;
  format: ProviderFormat;
  profile: boolean;
  json: string;
};

const RESULT = 'bench/results/latest.json';

/** Throws for what it does not know. */
export function parseArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      provider: { type: 'string', default: 'openai' },
      profile: { type: 'boolean', default: false },
      json: { type: 'string', default: RESULT },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number from 1');
  const format = PROVIDERS.find((name) => name === values.provider);
  if (format === undefined) throw new Error(`--provider must be ${PROVIDERS.join(' or ')}`);
  return { scenarios: positionals, rounds, format, profile: values.profile, json: values.json };
}
