/** The `.env` of a folder. Variables that are set in the real environment win, as with `node --env-file`. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from './environment.ts';

/** `file` null: there is none. */
export type EnvFile = { env: Environment; file: string | null };

export function envFileIn(folder: string): string {
  return path.join(folder, '.env');
}

export function readEnvFile(folder: string, real: Environment): EnvFile {
  const file = envFileIn(folder);
  if (!existsSync(file)) return { env: real, file: null };
  return { env: { ...parseEnv(readFileSync(file, 'utf8')), ...real }, file };
}

/** Adds the variables of the folder's `.env` to this process. Returns the file; null: there is none. */
export function loadEnvFile(folder: string): string | null {
  const file = envFileIn(folder);
  if (!existsSync(file)) return null;
  process.loadEnvFile(file);
  return file;
}
