/** Clear: the history restarts after everything stored. Only rows of branches are deleted. */
import { sql } from 'drizzle-orm';
import type { ContextId, TenantId } from '../../../core/ids.ts';
import type { ContextEvent } from '../../../core/stream/event.ts';
import type { Executor } from '../../connection/client.ts';
import { consecutive, recordEvents } from '../../run/events.ts';

const CLEARED: ContextEvent = { name: 'ContextCleared', data: {} };
const IDLE: ContextEvent = { name: 'StateChanged', data: { new_state: 'Idle', job_id: null } };

/** Whether a job is unfinished, and the settings version. The caller has locked the context's row. */
export async function lookBeforeClear(
  tx: Executor,
  tenantId: TenantId,
  contextId: ContextId,
): Promise<{ unfinished: boolean; version: number } | null> {
  const [row] = await tx.execute<{ unfinished: boolean; version: number }>(sql`
    select w.version, exists (
      select 1 from jobs j where j.context_id = w.context_id and j.status in ('running', 'waiting')
      union all
      select 1 from jobs j where j.context_id = w.context_id and j.status = 'queued'
      union all
      select 1 from jobs j where j.context_id = w.context_id and j.status = 'delayed') as unfinished
    from workers w where w.context_id = ${contextId} and w.tenant_id = ${tenantId}`);
  return row ?? null;
}

/**
 * Moves all stored messages out of the history, deletes all branches but the first, and resets the counters. It changes
 * a few rows, however long the history is. No job is unfinished; a run that still owns the lease has no work, and loses
 * the lease.
 */
export async function clear(tx: Executor, tenantId: TenantId, contextId: ContextId): Promise<{ headSeq: number }> {
  const [row] = await tx.execute<{ headSeq: number }>(sql`/* contexts.clear */
    with before as (
      select c.id, c.state = 'PermanentFailure' as failed from contexts c
      where c.id = ${contextId} and c.tenant_id = ${tenantId}
    ), ctx as (
      update contexts c set
        head_seq = c.head_seq + 1 + before.failed::int,
        state = case when before.failed then 'Idle' else c.state end, state_since = clock_timestamp(),
        scheduling_status = 'idle', next_check_at = null, lease_owner = null, lease_epoch = c.lease_epoch + 1, failed_claims = 0,
        active_branch = 'main', message_count = 0, turn_count = 0, request_count = 0, input_tokens = 0, output_tokens = 0,
        cache_read_tokens = 0, cache_write_tokens = 0, cost_nanos = null, last_failure = null
      from before where c.id = before.id
      returning c.id, c.tenant_id, c.head_seq, c.lease_epoch, before.failed
    ), main as (
      update branches b set message_count = 0, request_count = 0, input_tokens = 0, output_tokens = 0,
        cache_read_tokens = 0, cache_write_tokens = 0, cost_nanos = null,
        spans = jsonb_build_array(jsonb_build_object('branch', b.name, 'after', ctx.head_seq, 'upto', null))
      from ctx where b.context_id = ctx.id and b.name = 'main'
    ), untitled as (
      -- Also if it is null: a pass of the search index that has read the history sees that the row has changed.
      update workers w set first_input = null from ctx where w.context_id = ctx.id
    ), others as (
      delete from branches b using ctx where b.context_id = ctx.id and b.name <> 'main'
    ), recorded as (
      ${recordEvents({
        first: sql`ctx.head_seq - ctx.failed::int`,
        last: sql`ctx.head_seq`,
        events: sql`case when ctx.failed then ${consecutive(CLEARED, IDLE)} else ${consecutive(CLEARED)} end`,
      })}
    )
    select head_seq as "headSeq" from ctx`);
  if (row === undefined) throw new Error(`The locked context ${contextId} no longer exists.`);
  return row;
}
