/** A worker process claims jobs only after the database has the schema of its version. */
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isUnavailable } from '../../db/connection/database-errors.ts';
import type { Executor } from '../../db/connection/client.ts';
import { describeSchemaProblem, schemaState } from '../../db/setup/schema-state.ts';

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** Waits for the migrations. Logs the reason after each check, at growing intervals. */
export async function untilMigrated(executor: Executor, log: Logger): Promise<void> {
  for (let pause = FIRST_MS; ; pause = Math.min(LONGEST_MS, pause * 2)) {
    const reason = await reasonToWait(executor);
    if (reason === null) return;
    log.warn({ again_in_ms: pause }, reason);
    await setTimeout(pause);
  }
}

async function reasonToWait(executor: Executor): Promise<string | null> {
  try {
    return describeSchemaProblem(await schemaState((statement) => executor.execute(statement)));
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return 'PostgreSQL does not respond.';
  }
}
