/**
 * Everything that the calls of a job waited for, in order. A row of `tool_calls` stores only the last wait. Waits for
 * approval and for an outcome (which can repeat) are read from their events.
 */
import { sql, type SQL } from 'drizzle-orm';
import { ASK_USER } from '../../core/conversation/question.ts';
import { WAITS_FOR } from '../../core/tools/tool-call.ts';
import type { Millis } from '../../core/time.ts';
import { millis } from '../connection/instant.ts';

/** `answer`: from a person. `client`: an outcome from a client. */
export const CALL_WAITS = [...WAITS_FOR, 'client'] as const;

export type CallWait = {
  for: (typeof CALL_WAITS)[number];
  askedAt: Millis;
  /** When the wait expires; null: never. */
  expiresAt: Millis | null;
  /** Null: it still waits. */
  endedAt: Millis | null;
};

/**
 * Common table expressions that follow `job (id, context_id, tenant_id, first_seq, last_seq)`. `call_waits(id, waits)`:
 * the waits of each call that waited, as JSON. A wait ends with the call's next approval or outcome event.
 */
export const callWaits: SQL = sql`
    wait_events as (
      select (e.data ->> 'tool_call_id')::uuid as id, e.seq, e.name, e.created_at as asked,
        coalesce(e.data ->> 'expires_at', e.data ->> 'until')::timestamptz as expires,
        lead(e.created_at) over (partition by e.data ->> 'tool_call_id' order by e.seq) as ended
      from job join events e on e.context_id = job.context_id and e.batch > job.first_seq and e.batch <= job.last_seq
      where e.tenant_id = job.tenant_id
        and e.name in ('ApprovalRequested', 'ApprovalResolved', 'OutcomeUnknown', 'OutcomeResolved')
    ), waited as (
      select t.id, case w.name when 'ApprovalRequested' then 'approval' else 'outcome' end as what, w.asked,
        w.expires, coalesce(w.ended, t.finished_at) as ended, w.seq
      from wait_events w join tool_calls t on t.id = w.id where w.name in ('ApprovalRequested', 'OutcomeUnknown')
      union all
      select t.id, case when coalesce(t.waits_for, 'answer') <> 'answer' then t.waits_for
          when t.name = ${ASK_USER} then 'answer' else 'client' end,
        t.asked_at, t.expires_at, t.finished_at, null
      from job join tool_calls t on t.context_id = job.context_id and t.job_id = job.id
      where t.asked_at is not null and coalesce(t.waits_for, 'answer') in ('answer', 'workers', 'timer')
    ), call_waits as (
      select id, jsonb_agg(jsonb_build_object('for', what, 'askedAt', ${millis(sql`asked`)},
        'expiresAt', ${millis(sql`expires`)}, 'endedAt',
        case when ended is not null then ${millis(sql`greatest(asked, ended)`)} end) order by seq) as waits
      from waited group by id
    )`;
