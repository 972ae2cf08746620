/** The command line: which part of the platform runs in this process. */
import { setTimeout } from 'node:timers/promises';
import { ConfigError } from '../config.ts';
import { OperatorFileError } from '../tools/operator-file.ts';
import { ServiceError } from '../dev/service-error.ts';
import { VERSION } from '../workers/version.ts';
import { migrateOnly, runApi, runWorker } from './production.ts';
import { start } from './start.ts';

const USAGE = `nightshift ${VERSION}: background LLM agents on Postgres and Redis

  nightshift start     API and worker in one process, with services of its own where none are named
  nightshift api       the API process          (DATABASE_URL, REDIS_URL)
  nightshift worker    a worker process         (DATABASE_URL, REDIS_URL)
  nightshift migrate   brings the database up to date, and ends   (DATABASE_URL)

Everything is set by the environment: see .env.example.`;

const COMMANDS: Readonly<Record<string, () => Promise<number>>> = {
  start,
  api: runApi,
  worker: runWorker,
  migrate: migrateOnly,
};

/** The exit code. */
async function main(args: readonly string[]): Promise<number> {
  const [name = 'help'] = args;
  if (['help', '--help', '-h'].includes(name)) return say(USAGE, 0);
  if (['--version', '-v'].includes(name)) return say(VERSION, 0);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) return say(`There is no command ${name}.\n\n${USAGE}`, 2);
  if (args.length > 1)
    return say(`nightshift ${name} takes no arguments: everything is set by the environment.`, 2);
  try {
    return await command();
  } catch (error) {
    if (isForPeople(error)) return say(error.message, 1);
    throw error;
  }
}

/** Errors whose message says all there is to know. */
function isForPeople(error: unknown): error is Error {
  return error instanceof ConfigError || error instanceof OperatorFileError || error instanceof ServiceError;
}

function say(text: string, code: number): number {
  (code === 0 ? process.stdout : process.stderr).write(`${text}\n`);
  return code;
}

/**
 * Node's compiler works on threads of its own. One that is at work while the process exits may wait for ever for the main
 * thread, which waits for it (nodejs/node#54918): when there is nothing left to do, it soon comes to an end.
 */
const COMPILING_MS = 100;

const code = await main(process.argv.slice(2));
await setTimeout(COMPILING_MS);
process.exit(code);
