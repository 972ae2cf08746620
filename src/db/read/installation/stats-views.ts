/** Statistics about stored jobs and contexts: cheap ones for metrics, full ones for a tenant. */
import { sql, type SQL } from 'drizzle-orm';
import type { TenantId } from '../../../core/ids.ts';
import { shownState, type DurableState } from '../../../core/run/state.ts';
import { waitReason, type WaitReason } from '../../../core/run/wait-reason.ts';
import type { Millis } from '../../../core/time.ts';
import type { Executor } from '../../connection/client.ts';
import { WAKE_UP_GRACE_MS, millis } from '../../connection/instant.ts';
import { isAtWork } from '../contexts/shown-state.ts';

/** Across all tenants, from partial indexes only: idle contexts are not counted. */
type Load = {
  jobs: { queued: number; running: number; waiting: number };
  contexts: { runnable: number; running: number; waiting: number };
};

export async function readLoad(executor: Executor): Promise<Load> {
  const [row] = await executor.execute<{
    queued: number;
    jobs_running: number;
    jobs_waiting: number;
    runnable: number;
    running: number;
    waiting: number;
  }>(sql`
    select j.*, c.* from
      (select count(*)::int as queued from jobs where status = 'queued') q,
      lateral (select q.queued, count(*) filter (where status = 'running')::int as jobs_running,
        count(*) filter (where status = 'waiting')::int as jobs_waiting
        from jobs where status in ('running', 'waiting')) j,
      (select count(*) filter (where scheduling_status = 'runnable')::int as runnable,
        count(*) filter (where scheduling_status = 'running')::int as running,
        count(*) filter (where scheduling_status = 'waiting')::int as waiting
        from contexts c where ${isAtWork}) c`);
  if (row === undefined) throw new Error('The load query returned no row.');
  return {
    jobs: { queued: row.queued, running: row.jobs_running, waiting: row.jobs_waiting },
    contexts: { runnable: row.runnable, running: row.running, waiting: row.waiting },
  };
}

/** Across all tenants: contexts that wait for a slot, and those that have one. Each from its partial index. */
export async function readDemand(executor: Executor): Promise<{ runnable: number; running: number }> {
  const [row] = await executor.execute<{ runnable: number; running: number }>(sql`
    select (select count(*)::int from contexts where scheduling_status = 'runnable') as runnable,
      (select count(*)::int from contexts where lease_owner is not null) as running`);
  if (row === undefined) throw new Error('A select without a table has one row.');
  return row;
}

type TenantStats = {
  queued: number;
  running: number;
  waiting: number;
  /** Contexts by shown state, without states that have none. */
  byState: Map<DurableState, number>;
  /** Contexts that wait, by reason, and since when the oldest of them does. */
  waits: Map<WaitReason, Waits>;
};

type Waits = { contexts: number; since: Millis };

/**
 * Since when the context `c`, whose unfinished job is `j`, waits; null: it does not. A runnable one is due for a sweep a
 * second after its wake-up, or at once: then this is a second early. Without a job that began, its state is that of the job before.
 */
const waitsSince: SQL = sql`case
  when c.scheduling_status = 'waiting' and j.id is null then coalesce((
    select min(greatest(q.created_at, q.starts_at)) from jobs q where q.context_id = c.id and q.status = 'queued'), c.state_since)
  when c.scheduling_status = 'waiting' then c.state_since
  when c.scheduling_status = 'runnable' and not c.stopped and (c.queued > 0 or j.id is not null)
    then c.next_check_at - ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond' end`;

/**
 * One statement, so that nothing is counted twice. Active contexts come from partial indexes. Idle ones are counted in
 * one pass over the tenant's rows, by the three states that an idle context can have.
 */
export async function readStats(executor: Executor, tenantId: TenantId): Promise<TenantStats> {
  const rows = await executor.execute<{
    state: DurableState;
    scheduling_status: string;
    some_queued: boolean;
    retried: boolean;
    throttled: boolean;
    has_failed: boolean;
    since: Millis | null;
    waits: number;
    contexts: number;
    queued: number;
    running: number;
    waiting: number;
  }>(sql`
    select c.state, c.scheduling_status, c.queued > 0 as some_queued,
      c.state = 'TransientFailure' and c.scheduling_status = 'running'
        and coalesce(j.retry_at <= clock_timestamp(), true) as retried,
      coalesce(j.error -> 'throttled' is not null, false) as throttled,
      c.failed_claims > 0 as has_failed, ${millis(sql`min(${waitsSince})`)} as since, count(${waitsSince})::int as waits,
      count(*)::int as contexts, sum(c.queued)::int as queued,
      count(j.id) filter (where j.status = 'running')::int as running,
      count(j.id) filter (where j.status = 'waiting')::int as waiting
    from contexts c left join jobs j on j.context_id = c.id and j.status in ('running', 'waiting')
    where c.tenant_id = ${tenantId} and ${isAtWork}
    group by 1, 2, 3, 4, 5, 6
    union all
    select r.state, 'idle', false, false, false, false, null, 0, r.contexts, r.queued, 0, 0
    from (
      select count(*) filter (where state = 'Idle')::int as idle,
        count(*) filter (where state = 'PermanentFailure')::int as failed,
        count(*) filter (where state = 'Stopped')::int as stopped,
        coalesce(sum(queued), 0)::int as queued
      from contexts where tenant_id = ${tenantId} and scheduling_status = 'idle'
    ) n, lateral (
      values ('Idle', n.idle, n.queued), ('PermanentFailure', n.failed, 0), ('Stopped', n.stopped, 0)
    ) r(state, contexts, queued)`);
  const byState = new Map<DurableState, number>();
  const waits = new Map<WaitReason, Waits>();
  for (const row of rows) {
    const { state, scheduling_status: status, some_queued: someQueued, retried, since, contexts } = row;
    const shown = retried ? 'AwaitingLLMResponse' : shownState(state, status, someQueued ? 1 : 0);
    if (contexts > 0) byState.set(shown, (byState.get(shown) ?? 0) + contexts);
    if (since === null) continue;
    const waiting = { isRunnable: status === 'runnable', isThrottled: row.throttled, hasFailed: row.has_failed };
    const reason = waitReason(state, waiting);
    const known = waits.get(reason) ?? { contexts: 0, since };
    waits.set(reason, { contexts: known.contexts + row.waits, since: Math.min(known.since, since) });
  }
  const sum = (member: 'queued' | 'running' | 'waiting') => rows.reduce((total, row) => total + row[member], 0);
  return { queued: sum('queued'), running: sum('running'), waiting: sum('waiting'), byState, waits };
}
