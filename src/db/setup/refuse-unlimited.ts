/** An API whose login row security is to limit does not start where it turns out not to be limited. */
import type { Executor } from '../connection/client.ts';
import { DatabaseRefused } from './database-refused.ts';
import { describeSchemaProblem, schemaState } from './schema-state.ts';

/** Whether row security limits the login that asks, as it is meant for API processes only. */
export async function isLimitedLogin(executor: Executor): Promise<boolean> {
  const state = await schemaState((statement) => executor.execute(statement), 'to be limited');
  // A login that may not read the migrations may be that of worker processes.
  return state.kind === 'current';
}

/**
 * Throws `DatabaseRefused`. A database that does not answer, or is not migrated yet, keeps no API from starting:
 * `/readyz` checks the same, and says so.
 */
export async function refuseUnlimited(executor: Executor): Promise<void> {
  const asked = schemaState((statement) => executor.execute(statement), 'to be limited');
  const state = await asked.catch(() => null);
  if (state?.kind === 'unlimited') throw new DatabaseRefused(describeSchemaProblem(state) ?? state.why);
}
