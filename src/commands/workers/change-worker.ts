/** Changes a worker's name, title, role or config. A run in progress reads the worker again at its next step. */
import { refuse } from '../../core/errors.ts';
import type { ContextId, TenantId } from '../../core/ids.ts';
import { changeWorker as update, type WorkerChange } from '../../db/write/workers/workers.ts';
import { raiseControl } from '../../db/run/stop-requests.ts';
import { noContext } from '../inputs/refusals.ts';
import { done, type Command } from '../perform.ts';

type ChangeWorker = {
  tenantId: TenantId;
  contextId: ContextId;
  /** The values to write. The API merges the request into the stored values; this command checks the version. */
  change: WorkerChange;
  /** From `If-Match`; null: any version. */
  expectedVersion: number | null;
};

/** Refused: `not_found`, `version_conflict`. */
export function changeWorker({
  tenantId,
  contextId,
  change,
  expectedVersion,
}: ChangeWorker): Command<{ version: number }> {
  return async (tx) => {
    if (!(await raiseControl(tx, tenantId, contextId))) return noContext({ contextId });
    const version = await update(tx, contextId, change, expectedVersion);
    if (version === null) return refuse('version_conflict', 'The config has changed since you read it. Read it again.');
    return done({ version });
  };
}
