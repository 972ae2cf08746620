/**
 * The `.env` of a folder. Variables that are set in the real environment win, also if they are empty, as with
 * `node --env-file`.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { ConfigError } from './config.ts';
import type { Environment } from './environment.ts';

/** `file` null: there is none. `names`: the variables that are taken from it. */
export type EnvFile = { env: Environment; file: string | null; names: readonly string[] };

export function envFileIn(folder: string): string {
  return path.join(folder, '.env');
}

/** Throws ConfigError if the file cannot be read. A folder of this name counts as none. */
export function readEnvFile(folder: string, real: Environment): EnvFile {
  const file = envFileIn(folder);
  const text = textOf(file);
  if (text === null) return { env: real, file: null, names: [] };
  const given = parseEnv(text);
  const names = Object.keys(given).filter((name) => real[name] === undefined);
  return { env: { ...given, ...real }, file, names };
}

/** Adds the variables of the folder's `.env` to this process. Throws ConfigError if the file cannot be read. */
export function loadEnvFile(folder: string): Omit<EnvFile, 'env'> {
  const { env, file, names } = readEnvFile(folder, process.env);
  for (const name of names) process.env[name] = env[name];
  return { file, names };
}

/** For people: never a value. `file` null: there is none. */
export function describeEnvFile({ file, names }: Omit<EnvFile, 'env'>): string[] {
  if (file === null) return [];
  const taken = names.length === 0 ? 'none' : names.join(', ');
  return [`Settings from ${file}; variables that are set already win. Taken from it: ${taken}`];
}

/** Null: there is no file. */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    if (['ENOENT', 'EISDIR', 'ENOTDIR'].includes(code)) return null;
    throw new ConfigError([`${file} cannot be read (${code}): let this user read it, or remove it`]);
  }
}
