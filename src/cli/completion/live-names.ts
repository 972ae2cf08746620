/** Which options and arguments take names that only the API knows, for completion. */
import type { Argument, Command, Option } from 'commander';

/** What `nightshift complete` lists. */
export const LIVE_NAMES = [
  'calls',
  'contexts',
  'jobs',
  'keys',
  'places',
  'processes',
  'profiles',
  'roles',
  'schedules',
  'webhooks',
  'workers',
] as const;
export type LiveName = (typeof LIVE_NAMES)[number];

const OF_OPTIONS: Readonly<Record<string, LiveName>> = {
  '--worker': 'workers',
  '--context': 'contexts',
  '--role': 'roles',
  '--job': 'jobs',
  '--profile': 'profiles',
};

const OF_ARGUMENTS: Readonly<Record<string, LiveName>> = {
  worker: 'workers',
  job: 'jobs',
  jobs: 'jobs',
  context: 'contexts',
  'context|job|worker': 'places',
  role: 'roles',
  schedule: 'schedules',
  call: 'calls',
  calls: 'calls',
};

/** The first arguments of subcommands, by the name of the command above. */
const OF_IDS: Readonly<Record<string, LiveName>> = { keys: 'keys', ps: 'processes', webhooks: 'webhooks' };

/** Null: the API knows no values. */
export function liveNameOfOption({ long, flags }: Option): LiveName | null {
  if (long === '--parent') return flags.includes('job') ? 'jobs' : 'workers';
  return (long == null ? undefined : OF_OPTIONS[long]) ?? null;
}

export function liveNameOfArgument(argument: Argument, command: Command): LiveName | null {
  const name = argument.name();
  if (name === 'id') return OF_IDS[command.parent?.name() ?? ''] ?? null;
  return OF_ARGUMENTS[name] ?? null;
}
