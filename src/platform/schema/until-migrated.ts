/** A worker process claims jobs only after its connections are found fit, and the database has the schema of its version. */
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isUnavailable } from '../../db/connection/database-errors.ts';
import type { Executor } from '../../db/connection/client.ts';
import { describeAway } from './check-pooling.ts';
import { describeSchemaProblem, schemaState, type SchemaState } from '../../db/setup/schema-state.ts';

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/**
 * Waits for the database and its migrations. Logs the reason after each check, at growing intervals. `check` runs until it
 * has passed once; rejects with its error, unless the database is unavailable, and with the reason of the signal.
 */
export async function untilMigrated(
  executor: Executor,
  log: Logger,
  check: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let isChecked = false;
  const schema = async (): Promise<SchemaState> => {
    if (!isChecked) await check();
    isChecked = true;
    return schemaState((statement) => executor.execute(statement));
  };
  for (let pause = FIRST_MS; ; pause = Math.min(LONGEST_MS, pause * 2)) {
    const reason = await reasonToWait(schema);
    signal.throwIfAborted();
    if (reason === null) return;
    log.warn({ again_in_ms: pause }, reason);
    await setTimeout(pause, undefined, { signal });
  }
}

async function reasonToWait(schema: () => Promise<SchemaState>): Promise<string | null> {
  try {
    return describeSchemaProblem(await schema());
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return describeAway(error);
  }
}
