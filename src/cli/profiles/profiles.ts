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

/** Error codes that mean that there is no file. */
const ABSENT: readonly string[] = ['ENOENT', 'ENOTDIR'];

/** Without a file there are none. Throws if the file is damaged or cannot be read, or if other users can read it. */
export function readProfiles(env: Env): Promise<Profiles> {
  return readUnless(env, ABSENT);
}

/** The profile `default`, if there is one. A file that this user may not read has none: no one asked for it. */
export async function findDefaultProfile(env: Env): Promise<Profile | undefined> {
  return (await readUnless(env, [...ABSENT, 'EACCES'])).get(DEFAULT_PROFILE);
}

async function readUnless(env: Env, absent: readonly string[]): Promise<Profiles> {
  const file = profilesFile(env);
  const text = file === null ? null : await readPrivate(file, absent);
  return file === null || text === null ? new Map() : parseProfiles(text, file);
}

async function readPrivate(file: string, absent: readonly string[]): Promise<string | null> {
  try {
    const { mode } = await stat(file);
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0)
      throw new CommandError(EXIT.usage, `Other users can read ${file}, which has keys. Run: chmod 600 ${file}`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (absent.includes(codeOf(error) ?? '')) return null;
    throw refused(error, `${file} cannot be read`);
  }
}

/** The code of an error of the file system. */
function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** An error of the file system as one of the command. */
function refused(error: unknown, what: string): unknown {
  const code = codeOf(error);
  return code === null ? error : new CommandError(EXIT.usage, `${what} (${code}). Check who owns it and its folder.`);
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
  const fresh = `${file}.${process.pid}`;
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: ONLY_OWNER_FOLDER });
    const text = `${JSON.stringify({ profiles: Object.fromEntries(profiles) }, null, 2)}\n`;
    await writeFile(fresh, text, { mode: ONLY_OWNER, flag: 'wx' });
    await rename(fresh, file);
  } catch (error) {
    throw refused(error, `${file} cannot be written`);
  } finally {
    await rm(fresh, { force: true }).catch(() => undefined);
  }
  return file;
}

export function profileName(text: string): string {
  if (NAME.test(text)) return text;
  throw new CommandError(EXIT.usage, `${text} is no name of a profile. Use letters, digits, dots, _ and -.`);
}
