/** A worker's name, title, role or config changes; its holder, if it runs, reads it anew at the next step. */
import { refuse } from '../core/errors.ts';
import type { ContextId, TenantId } from '../core/ids.ts';
import { changeWorker as update } from '../db/workers.ts';
import type { WorkerChange } from '../db/workers.ts';
import { raiseControl } from '../db/stop-requests.ts';
import { done } from './perform.ts';
import type { Command } from './perform.ts';

export type ChangeWorker = {
  tenantId: TenantId;
  contextId: ContextId;
  /** Given the version that stands, what is to be written: the edge merges, this guards. */
  change: WorkerChange;
  /** Of `If-Match`; null: whatever it is. */
  expectedVersion: number | null;
};

/** In a transaction. Refused: `not_found`, `version_conflict`. */
export function changeWorker({
  tenantId,
  contextId,
  change,
  expectedVersion,
}: ChangeWorker): Command<{ version: number }> {
  return async (tx) => {
    if (!(await raiseControl(tx, tenantId, contextId))) {
      return refuse('not_found', `There is no context ${contextId}.`);
    }
    const version = await update(tx, contextId, change, expectedVersion);
    if (version === null)
      return refuse('version_conflict', 'The config was changed meanwhile: read it again.');
    return done({ version });
  };
}
