/** Approval decisions: stored on the waiting call until the run that owns the context's lease applies them. */
import { sql, type SQL } from 'drizzle-orm';
import type { JobId, ToolCallId } from '../../core/ids.ts';
import type { WorkerConfig } from '../../core/workers/settings.ts';
import type { CallStatus, ApprovalDecision, WaitsFor } from '../../core/tools/tool-call.ts';
import type { ContextEvent } from '../../core/stream/event.ts';
import type { Executor } from '../connection/client.ts';
import { changedContextColumns, type ChangedContext } from '../run/contexts.ts';
import { consecutive, recordEvents } from '../run/events.ts';
import { notifyOfHead } from '../webhooks/outbox.ts';
import type { Place } from '../run/places.ts';
import { WAKE_UP_GRACE_MS } from '../connection/instant.ts';
import { columns, recordset } from '../rows/recordset.ts';

/** A call as read before an approval decision. */
export type JudgedCall = {
  id: ToolCallId;
  jobId: JobId;
  name: string;
  status: CallStatus;
  /** What it waits for, or last waited for. */
  waitsFor: WaitsFor | null;
  approval: ApprovalDecision | null;
  /** The call has expired, though its run may not have noticed yet. */
  late: boolean;
  /** Its job has a stop request. */
  ending: boolean;
};

/** Null: the tenant has no such call in this context. */
export async function findJudgedCall(executor: Executor, place: Place, id: ToolCallId): Promise<JudgedCall | null> {
  const [row] = await select(executor, place, sql`calls`, sql`t.id = ${id}`);
  return row ?? null;
}

/** Calls of a context that wait for an approval decision, oldest first. */
export async function undecidedCalls(executor: Executor, place: Place): Promise<JudgedCall[]> {
  const waiting = sql`t.status = 'waiting' and t.waits_for = 'approval' and t.approval is null`;
  const calls = await select(executor, place, sql`tool_calls`, waiting);
  return calls.filter(({ late, ending }) => !late && !ending);
}

async function select(
  executor: Executor,
  { tenantId, contextId }: Place,
  from: SQL,
  where: SQL,
): Promise<JudgedCall[]> {
  return executor.execute<JudgedCall>(sql`
    select t.id, t.job_id as "jobId", t.name, t.status, t.waits_for as "waitsFor", t.approval,
      coalesce(t.expires_at <= clock_timestamp(), false) as late, j.stop_kind is not null as ending
    from ${from} t join jobs j on j.id = t.job_id
    where t.tenant_id = ${tenantId} and t.context_id = ${contextId} and ${where}
    order by t.asked_at, t.ordinal`);
}

export type NewApproval = {
  id: ToolCallId;
  approval: ApprovalDecision;
  event: Extract<ContextEvent, { name: 'ApprovalResolved' }>;
};

const DECISIONS = recordset(
  'v',
  columns<NewApproval>({
    id: ['uuid', ({ id }) => id],
    approval: ['json', ({ approval }) => approval],
  }),
);

/**
 * Writes decisions and their `ApprovalResolved` events, raises `control_seq` so that the lease owner reads them, and
 * makes a waiting context runnable. An approved call becomes `pending` again; a denied call keeps waiting until the run
 * closes it. The caller has locked the context's row.
 */
export async function writeApprovals(
  tx: Executor,
  { tenantId, contextId }: Place,
  decisions: readonly NewApproval[],
): Promise<ChangedContext> {
  const [row] = await tx.execute<ChangedContext>(sql`/* approvals.decide */
    with decided as (
      select v.id, v.approval from ${DECISIONS.table(decisions)}
    ), ctx as (
      update contexts c set
        head_seq = c.head_seq + ${decisions.length}::int,
        wake_seq = c.wake_seq + 1,
        control_seq = c.control_seq + 1,
        scheduling_status = case when c.scheduling_status = 'waiting' then 'runnable' else c.scheduling_status end,
        next_check_at = case when c.scheduling_status = 'waiting'
          then clock_timestamp() + ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond' else c.next_check_at end
      where c.id = ${contextId} and c.tenant_id = ${tenantId}
      returning c.id, c.tenant_id, c.head_seq, c.wake_seq, c.lease_epoch, c.scheduling_status
    ), call as (
      update tool_calls t set approval = decided.approval, approval_at = clock_timestamp(),
        status = case decided.approval ->> 'decision' when 'approve' then 'pending' else t.status end
      from ctx, decided
      where t.context_id = ctx.id and t.id = decided.id and t.status = 'waiting' and t.waits_for = 'approval'
        and t.approval is null
      returning t.id
    ), recorded as (
      ${recordEvents({
        first: sql`ctx.head_seq - ${decisions.length - 1}::int`,
        last: sql`ctx.head_seq`,
        events: consecutive(...decisions.map(({ event }) => event)),
      })}
    ), notified as (${notifyOfHead}
    )
    select ${changedContextColumns} from ctx where (select count(*) from call) = ${decisions.length}::int`);
  if (row === undefined) throw new Error('An approval decision names a call that no longer waits for approval.');
  return row;
}

/** The current config of a context's worker. The caller has locked the context's row, so the config cannot change. */
export async function configOf(tx: Executor, { tenantId, contextId }: Place): Promise<WorkerConfig> {
  const [row] = await tx.execute<{ config: WorkerConfig }>(
    sql`select w.config from workers w where w.tenant_id = ${tenantId} and w.context_id = ${contextId}`,
  );
  if (row === undefined) throw new Error(`The locked context ${contextId} has no worker.`);
  return row.config;
}
