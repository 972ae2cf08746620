/** Profiles: addresses of APIs with their keys, in a file that only its owner can read. */
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CommandError, EXIT } from '../exit.ts';
import type { Env } from '../terminal/io.ts';

/** `key` null: the API needs none. */
export type Profile = { url: string; key: string | null };
export type Profiles = ReadonlyMap<string, Profile>;

export const DEFAULT_PROFILE = 'default';
const ONLY_OWNER = 0o600;
const ONLY_OWNER_FOLDER = 0o700;
const OTHERS = 0o077;
const NAME = /^[\w.-]{1,64}$/;

/** Null: the environment names no home directory. */
export function profilesFile(env: Env): string | null {
  const home = env['HOME'] || env['USERPROFILE'];
  const folder = env['XDG_CONFIG_HOME'] || (home === undefined ? undefined : path.join(home, '.config'));
  return folder === undefined ? null : path.join(folder, 'nightshift', 'profiles.json');
}

/** Without a file there are none. Throws if the file is damaged, or if other users can read it. */
export async function readProfiles(env: Env): Promise<Profiles> {
  const file = profilesFile(env);
  const text = file === null ? null : await readPrivate(file);
  return file === null || text === null ? new Map() : parseProfiles(text, file);
}

async function readPrivate(file: string): Promise<string | null> {
  try {
    const { mode } = await stat(file);
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0)
      throw new CommandError(EXIT.usage, `Other users can read ${file}, which has keys. Run: chmod 600 ${file}`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return null;
    throw error;
  }
}

function parseProfiles(text: string, file: string): Profiles {
  const damaged = new CommandError(EXIT.usage, `${file} is damaged. Delete it, and run nightshift login again.`);
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw damaged;
  }
  if (!isObject(document) || !isObject(document['profiles'])) throw damaged;
  return new Map(
    Object.entries(document['profiles']).map(([name, value]) => {
      if (!isProfile(value)) throw damaged;
      return [name, { url: value.url, key: value.key }];
    }),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isProfile(value: unknown): value is Profile {
  return (
    isObject(value) && typeof value['url'] === 'string' && (value['key'] === null || typeof value['key'] === 'string')
  );
}

/** Replaces the file at once: a reader sees the old profiles or the new ones. Returns its name. */
export async function writeProfiles(env: Env, profiles: Profiles): Promise<string> {
  const file = profilesFile(env);
  if (file === null) throw new CommandError(EXIT.usage, 'There is no place for profiles. Set HOME or XDG_CONFIG_HOME.');
  await mkdir(path.dirname(file), { recursive: true, mode: ONLY_OWNER_FOLDER });
  const fresh = `${file}.${process.pid}`;
  try {
    const text = `${JSON.stringify({ profiles: Object.fromEntries(profiles) }, null, 2)}\n`;
    await writeFile(fresh, text, { mode: ONLY_OWNER, flag: 'wx' });
    await rename(fresh, file);
  } finally {
    await rm(fresh, { force: true });
  }
  return file;
}

export function profileName(text: string): string {
  if (NAME.test(text)) return text;
  throw new CommandError(EXIT.usage, `${text} is no name of a profile. Use letters, digits, dots, _ and -.`);
}
