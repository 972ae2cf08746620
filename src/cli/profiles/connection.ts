/**
 * Which API a command calls, with which key. The address and the key come from the same place, so a key is never sent to
 * an address for which it was not given.
 */
import { CommandError, EXIT } from '../exit.ts';
import type { Env } from '../terminal/io.ts';
import { DEFAULT_PROFILE, findDefaultProfile, readProfiles, type Profile } from './profiles.ts';

export const DEFAULT_URL = 'http://127.0.0.1:3000';

/** `source`: for messages. */
export type Connection = Profile & { source: string };

type Options = { url?: string; profile?: string };

/**
 * In this order: `--url`; `--profile`; `NIGHTSHIFT_URL`; `NIGHTSHIFT_PROFILE`; the default address, if
 * NIGHTSHIFT_API_KEY is set; the profile `default`; the default address. `--url` and `NIGHTSHIFT_URL` go with the key
 * NIGHTSHIFT_API_KEY.
 */
export async function connectionOf(env: Env, { url, profile }: Options): Promise<Connection> {
  if (url !== undefined && profile !== undefined)
    throw new CommandError(EXIT.usage, 'Give --url or --profile, not both.');
  const key = env['NIGHTSHIFT_API_KEY'] || null;
  if (url !== undefined) return checked({ url, key, source: '--url' });
  if (profile !== undefined) return ofProfile(env, profile, '--profile');
  const fromEnvironment = env['NIGHTSHIFT_URL'];
  if (fromEnvironment) return checked({ url: fromEnvironment, key, source: 'NIGHTSHIFT_URL' });
  const named = env['NIGHTSHIFT_PROFILE'];
  if (named) return ofProfile(env, named, 'NIGHTSHIFT_PROFILE');
  const usual = key === null ? await findDefaultProfile(env) : undefined;
  if (usual !== undefined) return checked({ ...usual, source: `the profile ${DEFAULT_PROFILE}` });
  return { url: DEFAULT_URL, key, source: 'the default' };
}

async function ofProfile(env: Env, name: string, source: string): Promise<Connection> {
  const profiles = await readProfiles(env);
  const found = profiles.get(name);
  if (found !== undefined) return checked({ ...found, source: `the profile ${name}` });
  const known = profiles.size === 0 ? 'There are none' : `There are: ${[...profiles.keys()].join(', ')}`;
  throw new CommandError(
    EXIT.usage,
    `No profile is named ${name} (${source}). ${known}. Run: nightshift login --profile ${name}`,
  );
}

function checked(connection: Connection): Connection {
  if (['http:', 'https:'].includes(URL.parse(connection.url)?.protocol ?? '')) return connection;
  throw new CommandError(
    EXIT.usage,
    'The API URL is invalid. Set NIGHTSHIFT_URL or --url to an http:// or https:// URL.',
  );
}
