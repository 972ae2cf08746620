/**
 * Tool calls and their executions, wherever they are stored: in rows of their own, or with their result if they ended
 * within the append that requested them (docs/decisions/0028-ended-calls.md).
 */
import { sql, type SQL } from 'drizzle-orm';
import { pgView } from 'drizzle-orm/pg-core';
import type { JobId, MessageId } from '../../core/ids.ts';
import type { ExecutionOutcome } from '../../core/run/execution.ts';
import type { Millis } from '../../core/time.ts';
import type { Effect, OnUnknown } from '../../core/tools/tool.ts';
import type { ClosedCallStatus } from '../../core/tools/tool-call.ts';

/** A call, as stored with its result. The message of the result has the id of the call. */
export type EndedCall = {
  /** The answer that requested it. */
  message_id: MessageId;
  /** In a fork: the job of the source. Otherwise it is the job of the message. */
  job_id?: JobId;
  ordinal: number;
  name: string;
  effect: Effect;
  on_unknown: OnUnknown;
  status: ClosedCallStatus;
  /** Null: it did not run. */
  execution: { epoch: number; began_at: Millis; outcome: ExecutionOutcome } | null;
};

/** When the execution of the call of `m` began. The clock of its process may have been ahead. */
const began = sql.raw(
  `least(to_timestamp((m.call -> 'execution' ->> 'began_at')::float8 / 1000)::timestamptz(3), m.completed_at)`,
);

/** The columns of `calls`, of the row `t`. */
export const storedCall: SQL = sql.raw(
  `t.id, t.tenant_id, t.context_id, t.job_id, t.message_id, t.ordinal, t.name, t.effect, t.on_unknown, t.status,
    t.waits_for, t.asked_at, t.expires_at, t.reply, t.approval, t.approval_at, t.created_at, t.started_at, t.finished_at`,
);

/** The same of the message `m` of a result, if `m.call` is not null. */
export const endedCall: SQL = sql`m.id, m.tenant_id, m.context_id, coalesce(m.job_id, (m.call ->> 'job_id')::uuid) as job_id,
    (m.call ->> 'message_id')::uuid as message_id, (m.call ->> 'ordinal')::int as ordinal, m.call ->> 'name' as name,
    m.call ->> 'effect' as effect, m.call ->> 'on_unknown' as on_unknown, m.call ->> 'status' as status,
    null::text as waits_for, null::timestamptz as asked_at, null::timestamptz as expires_at, null::json as reply,
    null::json as approval, null::timestamptz as approval_at, coalesce(${began}, m.created_at) as created_at,
    null::timestamptz as started_at, m.completed_at as finished_at`;

/** Use it to find calls by id: both parts then use a primary key. */
export const calls = pgView('calls', {}).with({ securityInvoker: true }).as(sql`select ${storedCall} from tool_calls t
  union all
  select ${endedCall} from messages m where m.call is not null`);

/** Use it to find the executions of a call. */
export const executions = pgView('executions', {}).with({ securityInvoker: true })
  .as(sql`select x.tool_call_id, x.number, x.tenant_id, x.context_id, x.epoch, x.idempotency_key, x.began_at, x.ended_at,
    x.outcome from tool_executions x
  union all
  select m.id, 1, m.tenant_id, m.context_id, (m.call -> 'execution' ->> 'epoch')::bigint, m.id::text, ${began},
    m.completed_at, m.call -> 'execution' ->> 'outcome'
  from messages m where m.call is not null and m.call -> 'execution' ->> 'outcome' is not null`);
