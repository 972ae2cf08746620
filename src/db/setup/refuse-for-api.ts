/**
 * An API does not serve a database that needs a newer version of it, nor with a login that row security is to limit and
 * does not.
 */
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
 * Throws `DatabaseRefused`, or the driver's error. `isLimited`: row security is to limit the login. A database that is not
 * migrated yet keeps no API from starting: `/readyz` checks the same, and says so.
 */
export async function refuseForApi(executor: Executor, isLimited: boolean): Promise<void> {
  const state = await schemaState((statement) => executor.execute(statement), isLimited ? 'to be limited' : 'any');
  if (state.kind !== 'unlimited' && state.kind !== 'ahead') return;
  throw new DatabaseRefused(describeSchemaProblem(state) ?? state.kind);
}
