/** Ends the throttles of a model early: the rows, and the waits of the jobs that they delay. */
import { sql } from 'drizzle-orm';
import type { ProviderName } from '../../core/model/model.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import { dueNow, millis, nowInStatement } from '../connection/instant.ts';
import { LIFTED_FOR } from '../processes/throttles.ts';

/** At most this many waiting jobs go on. */
const MOST = 1_000;

/** The first goes on once every process knows it by its heartbeat; then one after the other. In milliseconds. */
const FIRST_MS = 1_000;
const APART_MS = 20;
/** Jobs that go on within this time by themselves are left alone, so that a repeated request reaches the others. */
const SPREAD_MS = FIRST_MS + MOST * APART_MS;

/**
 * Ends the throttles of all tenants, and lets the jobs go on that wait for them, or that wait to repeat a call that was
 * refused. Jobs of contexts that another transaction has locked, or that begin to wait at this moment, are left out: for
 * a minute it may be repeated. Null: there is no such throttle. Otherwise the time of the end.
 */
export async function liftThrottle(executor: Executor, provider: ProviderName, id: string): Promise<Millis | null> {
  const [lifted] = await executor.execute<{ at: Millis }>(sql`/* provider_throttles.lift */
    with lifted as materialized (
      update provider_throttles set until = least(until, ${dueNow}), lifted_at = ${dueNow}
      where id = ${id} and provider = ${provider}
        and (until > ${nowInStatement} or lifted_at > ${nowInStatement} - ${LIFTED_FOR})
      returning tenant_id, provider || '/' || model as model, lifted_at
    ), waiting as materialized (
      select c.id, j.id as job_id from contexts c
      join jobs j on j.context_id = c.id and j.status = 'waiting' and j.retry_at > ${nowInStatement}
      where c.scheduling_status = 'waiting' and c.next_check_at > ${nowInStatement} + ${SPREAD_MS}::float8 * interval '1 millisecond'
        and exists (select 1 from lifted)
        and (j.error->'throttled'->>'id' = ${id}
          or j.error->>'code' in ('provider_rate_limited', 'provider_overloaded') and (
            select f.model from failed_calls f where f.job_id = j.id order by f.attempt desc limit 1
          ) in (select l.model from lifted l where l.tenant_id = c.tenant_id))
      order by c.next_check_at limit ${MOST} for no key update of c skip locked
    ), placed as (
      select w.id, w.job_id, ${dueNow} + interval '1 millisecond'
        * (${FIRST_MS}::float8 + ${APART_MS}::float8 * (row_number() over (order by w.id) - 1)) as at
      from waiting w
    ), moved as (
      update contexts c set next_check_at = least(c.next_check_at, p.at) from placed p where c.id = p.id
      returning p.job_id, p.at
    ), sooner as (
      update jobs j set retry_at = m.at from moved m where j.id = m.job_id and j.status = 'waiting' and j.retry_at > m.at
    )
    select ${millis(sql`max(lifted_at)`)} as at from lifted having count(*) > 0`);
  return lifted?.at ?? null;
}
