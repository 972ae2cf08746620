/** What the operator asks of a worker process. The process reads it with its next heartbeat. */
import { sql } from 'drizzle-orm';
import type { ProcessId } from '../../core/ids.ts';
import type { ProcessStatus } from '../../core/process-status.ts';
import type { Executor } from '../connection/client.ts';

/** `ended`: it is declared dead, or has ended. `draining`: after a request or a signal; it goes on with it. */
export type Requested =
  | { kind: 'unknown' | 'ended' | 'draining' | 'cannot_drain' }
  | { kind: 'done'; changed: boolean };

/** One statement. `changed` false: the same was asked of it before. */
export async function requestStatus(executor: Executor, id: ProcessId, status: ProcessStatus): Promise<Requested> {
  const [row] = await executor.execute<{
    isDead: boolean;
    before: ProcessStatus;
    isDraining: boolean;
    canDrain: boolean;
    isDone: boolean;
  }>(sql`/* processes.request_status */
    with found as materialized (
      select p.id, p.dead_at is not null as is_dead, p.requested_status as before,
        'draining' in (p.status, p.requested_status) as is_draining, p.can_drain
      from processes p where p.id = ${id} for no key update
    ), changed as (
      update processes p set requested_status = ${status} from found f
      where p.id = f.id and not f.is_dead and not f.is_draining and (f.can_drain or ${status}::text <> 'draining')
      returning 1
    )
    select f.is_dead as "isDead", f.before, f.is_draining as "isDraining", f.can_drain as "canDrain", exists (select 1 from changed) as "isDone" from found f`);
  if (row === undefined) return { kind: 'unknown' };
  if (row.isDead) return { kind: 'ended' };
  if (row.isDraining) return status === 'draining' ? { kind: 'done', changed: false } : { kind: 'draining' };
  if (status === 'draining' && !row.canDrain) return { kind: 'cannot_drain' };
  return { kind: 'done', changed: row.isDone && row.before !== status };
}
