/** The database login of transactional tools, in a process that runs jobs. */
import type { Logger } from 'pino';
import { ConfigError, type Config } from '../../config/config.ts';
import type { Database } from '../../db/connection/client.ts';
import { isUnavailable } from '../../db/connection/database-errors.ts';
import { COMING_UP_MS, isUp, whenUp } from '../../db/connection/when-up.ts';
import { DatabaseRefused } from '../../db/setup/database-refused.ts';
import {
  ToolDatabaseAway,
  openToolDatabase,
  type ToolDatabase,
  type ToolDatabaseOptions,
} from '../../db/tool-transactions/tool-database.ts';
import type { Tool } from '../../tools/registry/tool.ts';
import type { WorkerProcess } from '../../workers/process/process.ts';

/** `signal`: ends the wait for a database that is not up. `comingUpMs`: how long its URL may lead to none that answers. */
type Start = { log: Logger; signal: AbortSignal | undefined; comingUpMs?: number };

/**
 * Null: no tool is transactional. Rejects with `ConfigError` if there is no login for those that are, and with
 * `DatabaseRefused` if it cannot be used: before anything runs.
 */
export async function toolDatabaseOf(
  { toolsDatabaseUrl: url, toolsDatabasePoolSize: max, databaseSchema: schema }: Config,
  tools: readonly Tool[],
  database: Database,
  start: Start,
): Promise<ToolDatabase | null> {
  const names = transactionalAmong(tools);
  if (names.length === 0) return null;
  if (url === null) {
    const advice = 'set it to the URL of the database of Nightshift, with a login of your service';
    throw new ConfigError([`${withoutToolLogin(names)}: ${advice}`]);
  }
  return untilOpen(database, { url, max, schema }, start);
}

/**
 * It is the database of Nightshift: while that is away too, the process waits, as it does for its own login. A URL that
 * leads to none that answers, although Nightshift's own has just answered, is wrong.
 */
async function untilOpen(
  database: Database,
  options: ToolDatabaseOptions,
  { log, signal, comingUpMs = COMING_UP_MS }: Start,
): Promise<ToolDatabase> {
  const open = (): Promise<ToolDatabase> => openToolDatabase(database, options);
  const tell = (error: unknown): void => log.warn({ err: error }, 'waiting for PostgreSQL, to run transactional tools');
  for (;;) {
    try {
      return await whenUp(open, tell, signal, comingUpMs);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
    if (!(await isUp(database.db))) continue;
    try {
      return await whenUp(open, undefined, signal, comingUpMs);
    } catch (error) {
      if (error instanceof ToolDatabaseAway) throw new DatabaseRefused(error.message, { cause: error });
      if (!isUnavailable(error)) throw error;
    }
  }
}

/** The names of the transactional ones. */
export function transactionalAmong(tools: readonly Tool[]): string[] {
  return tools.filter(({ transactional }) => transactional === true).map(({ descriptor }) => descriptor.name);
}

/** For the operator, if there is no login for these transactional tools: what is wrong. */
export function withoutToolLogin(names: readonly string[]): string {
  const which = names.length === 1 ? `The tool ${names[0]} is` : `The tools ${names.join(', ')} are`;
  return `NIGHTSHIFT_TOOLS_DATABASE_URL is not set. ${which} transactional`;
}

/** Closes the connections of the tools once the process has drained. */
export function closingAfter(worker: WorkerProcess, toolDatabase: ToolDatabase | null): WorkerProcess {
  if (toolDatabase === null) return worker;
  return {
    running: () => worker.running(),
    drain: async () => {
      await worker.drain();
      await toolDatabase.close();
    },
  };
}
