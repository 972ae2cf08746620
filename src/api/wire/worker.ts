/** Converts workers to their API form. */
import type { WorkerView } from '../../db/read/contexts/worker-views.ts';
import { toIso } from '../request/instant.ts';
import type { Worker } from '../schemas/workers/worker.ts';

export function toWorker(view: WorkerView): Worker {
  const { lastFailure } = view;
  return {
    id: view.id,
    name: view.name,
    user: view.user,
    role: view.role,
    role_version: view.roleVersion,
    config: view.config,
    state: view.state,
    last_failure: lastFailure === null ? null : { ...lastFailure, at: toIso(Date.parse(lastFailure.at)) },
    context_id: view.contextId,
    parent_worker_id: view.parentWorkerId,
    depth: view.depth,
    created_at: toIso(view.createdAt),
    updated_at: toIso(view.updatedAt),
  };
}
