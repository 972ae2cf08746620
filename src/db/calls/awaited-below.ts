/** Questions to persons and clients from the workers that a context waits for, directly or through other workers. */
import { sql, type SQL } from 'drizzle-orm';
import type { ToolCallId, WorkerId } from '../../core/ids.ts';
import type { WaitsFor } from '../../core/tools/tool-call.ts';
import { isAwaited } from './replies.ts';

/** Limits: calls returned, and workers searched. */
const MOST_SHOWN = 50;
const LOOKED_AT = 1_000;

/** A call of an awaited worker that waits for a person or a client. */
export type AwaitedBelow = {
  id: ToolCallId;
  name: string;
  workerId: WorkerId;
  for: Extract<WaitsFor, 'approval' | 'answer' | 'outcome'>;
};

/** A JSON array, oldest call first; null: none. */
export function awaitedBelow(contextId: SQL): SQL {
  return sql`(
    with recursive below as (
      select ${contextId} as context_id, null::uuid as worker_id
      union
      select j.context_id, a.worker_id from below b join awaited_jobs a on a.context_id = b.context_id
      join tool_calls t on t.id = a.tool_call_id and t.status = 'waiting'
      join jobs j on j.id = a.job_id and j.status in ('running', 'waiting')
    )
    select jsonb_agg(jsonb_build_object('id', u.id, 'name', u.name, 'workerId', u.worker_id, 'for', u.waits_for)
      order by u.asked_at, u.id) from (
      select t.id, t.name, b.worker_id, t.asked_at, coalesce(t.waits_for, 'answer') as waits_for
      from (select * from below limit ${LOOKED_AT}) b join tool_calls t on t.context_id = b.context_id
        and ${isAwaited}
      where b.worker_id is not null and coalesce(t.waits_for, 'answer') in ('approval', 'answer', 'outcome')
      order by t.asked_at, t.id limit ${MOST_SHOWN}) u)`;
}
