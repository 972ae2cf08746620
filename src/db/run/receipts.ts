/** Results of stop requests, as the API returns them. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, JobId, MessageId, TenantId, ToolCallId } from '../../core/ids.ts';
import type { JobStatus } from '../../core/run/job.ts';
import type { Effect } from '../../core/tools/tool.ts';
import type { CallStatus } from '../../core/tools/tool-call.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import { callsOfJob } from '../calls/calls-of-job.ts';
import { millis } from '../connection/instant.ts';

/** The status of a stop request on a job. */
export type ReceiptView = {
  status: JobStatus;
  requestedAt: Millis | null;
  deliveredAt: Millis | null;
  stoppedAt: Millis | null;
};

/** Columns of the job `j`. */
const receiptColumns: SQL = sql`j.status, ${millis(sql`j.stop_requested_at`)} as "requestedAt",
  ${millis(sql`j.stop_delivered_at`)} as "deliveredAt", ${millis(sql`j.stopped_at`)} as "stoppedAt"`;

/** Null: the tenant has no such job. */
export async function findReceipt(executor: Executor, tenantId: TenantId, id: JobId): Promise<ReceiptView | null> {
  const [row] = await executor.execute<ReceiptView>(
    sql`select ${receiptColumns} from jobs j where j.tenant_id = ${tenantId} and j.id = ${id}`,
  );
  return row ?? null;
}

/** The effects of an interrupt so far: retracted messages, and calls that had started, which are not undone. */
type InterruptionView = ReceiptView & {
  removed: MessageId[];
  effects: { id: ToolCallId; name: string; effect: Effect; status: CallStatus }[];
};

/** One statement, so that all of it is from one snapshot. Null: the tenant has no such job. */
export async function findInterruption(
  executor: Executor,
  tenantId: TenantId,
  { contextId, jobId }: { contextId: ContextId; jobId: JobId },
): Promise<InterruptionView | null> {
  type Interrupted = ReceiptView & {
    removed: InterruptionView['removed'] | null;
    effects: InterruptionView['effects'] | null;
  };
  const [row] = await executor.execute<Interrupted>(sql`
    select ${receiptColumns}, (
        select jsonb_agg(m.id order by m.seq) from messages m where m.context_id = j.context_id and m.branch = j.branch
          and m.seq > j.first_seq and m.seq <= j.last_seq and m.job_id = j.id and m.status = 'retracted' and m.type <> 'partial') as removed, (
        select jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name, 'effect', t.effect, 'status', t.status)
          order by t.created_at, t.ordinal)
        from ${callsOfJob(sql`j`, sql`coalesce(j.last_seq, 9223372036854775807)`)} t where t.tenant_id = j.tenant_id
          and not (t.effect = 'once' and t.status in ('pending', 'cancelled')) and t.status <> 'denied'
          and not (t.waits_for is not distinct from 'approval' and (t.approval ->> 'decision') is distinct from 'approve')
          and not (t.effect = 'none' and t.asked_at is not null and t.status in ('waiting', 'cancelled'))) as effects
    from jobs j where j.id = ${jobId} and j.context_id = ${contextId} and j.tenant_id = ${tenantId}`);
  return row === undefined ? null : { ...row, removed: row.removed ?? [], effects: row.effects ?? [] };
}
