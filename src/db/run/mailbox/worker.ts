/** The worker of a mailbox. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, WorkerId } from '../../../core/ids.ts';
import type { Mailbox } from '../../../core/run/snapshot.ts';
import type { Role, WorkerConfig } from '../../../core/workers/settings.ts';
import type { Executor } from '../../connection/client.ts';
import type { OfContext } from '../places.ts';

/** The stored configuration of a worker. The process that runs it resolves it to settings. */
export type WorkerDefinition = {
  workerId: WorkerId;
  role: string | null;
  /** The API role, in the version of this worker; null: the role is in the config file, or the worker has none. */
  definition: Role | null;
  config: WorkerConfig;
};

export type StoredWorker = WorkerDefinition & Pick<Mailbox, 'rootContextId'>;

export async function readWorkers(executor: Executor, at: SQL): Promise<Map<ContextId, StoredWorker>> {
  const rows = await executor.execute<Omit<StoredWorker, 'workerId'> & { id: WorkerId } & OfContext>(sql`
    select w.* from ${at} cross join lateral (
      select w.context_id, w.id, w.role, r.definition, w.config,
        coalesce(w.root_context_id, w.context_id) as "rootContextId" from workers w
      left join roles r on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version
      where w.context_id = at.context_id and w.tenant_id = at.tenant limit 1) w`);
  return new Map(rows.map(({ context_id, id, ...worker }) => [context_id, { workerId: id, ...worker }]));
}
