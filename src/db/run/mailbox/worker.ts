/** The worker of a mailbox. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, WorkerId } from '../../../core/ids.ts';
import type { Mailbox } from '../../../core/run/snapshot.ts';
import type { Role, WorkerConfig } from '../../../core/workers/settings.ts';
import type { OfContext } from '../places.ts';

/** The stored configuration of a worker. The process that runs it resolves it to settings. */
export type WorkerDefinition = {
  workerId: WorkerId;
  role: string | null;
  /** The API role, in the version of this worker; null: the role is in the config file, or the worker has none. */
  definition: Role | null;
  config: WorkerConfig;
};

export type StoredWorker = WorkerDefinition & Pick<Mailbox, 'rootContextId'> & { name: string };

export type WorkerRow = OfContext & StoredWorker;

/** The workers, as `WorkerRow`. */
export function workersOf(at: SQL): SQL {
  return sql`
    select w.* from ${at} cross join lateral (
      select w.context_id, w.id as "workerId", w.name, w.role, r.definition, w.config,
        coalesce(w.root_context_id, w.context_id) as "rootContextId" from workers w
      left join roles r on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version
      where w.context_id = at.context_id and w.tenant_id = at.tenant limit 1) w`;
}

export function toWorkers(rows: readonly WorkerRow[]): Map<ContextId, StoredWorker> {
  return new Map(rows.map(({ context_id, ...worker }) => [context_id, worker]));
}
