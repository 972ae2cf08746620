/** Ends a provider throttle early: the row, and the waits of the jobs that it delays. */
import { sql } from 'drizzle-orm';
import type { ProviderName } from '../../core/model/model.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import { dueNow, millis, nowInStatement } from '../connection/instant.ts';

/** At most this many waiting jobs go on at once. The others go on at the time that they have. */
const MOST = 10_000;

/** They begin one after the other, this many milliseconds apart. */
const APART_MS = 20;

/**
 * Ends an active throttle, and lets the jobs go on that wait for it, or that wait to repeat a call that it refused. Skips
 * contexts that another transaction has locked. Null: there is no such throttle. Otherwise the time of its end.
 */
export async function liftThrottle(executor: Executor, provider: ProviderName, id: string): Promise<Millis | null> {
  const [lifted] = await executor.execute<{ at: Millis }>(sql`/* provider_throttles.lift */
    with lifted as (
      update provider_throttles set until = ${dueNow}, lifted_at = ${dueNow}
      where id = ${id} and provider = ${provider} and until > ${nowInStatement}
      returning provider, model, tenant_ids, lifted_at
    ), waiting as materialized (
      select c.id, j.id as job_id from lifted l
      join jobs j on j.status = 'waiting' and (
        j.error->'throttled' @> jsonb_build_object('provider', l.provider, 'model', l.model)
        or exists (select 1 from failed_calls f where f.job_id = j.id and f.model = l.provider || '/' || l.model
          and f.retry_at > ${nowInStatement}))
      join contexts c on c.id = j.context_id and c.scheduling_status = 'waiting' and c.next_check_at > ${nowInStatement}
      where l.provider <> 'simulated' or c.tenant_id = any (l.tenant_ids)
      order by c.next_check_at limit ${MOST} for update of c skip locked
    ), placed as (
      select w.id, w.job_id,
        ${dueNow} + (row_number() over (order by w.id) - 1) * ${APART_MS}::float8 * interval '1 millisecond' as at
      from waiting w
    ), moved as (
      update contexts c set next_check_at = least(c.next_check_at, p.at) from placed p where c.id = p.id
      returning p.job_id, p.at
    ), sooner as (
      update jobs j set retry_at = least(j.retry_at, m.at) from moved m where j.id = m.job_id
    )
    select ${millis(sql`lifted_at`)} as at from lifted`);
  return lifted?.at ?? null;
}
