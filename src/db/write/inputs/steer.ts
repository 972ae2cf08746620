/** Steer: an input for a running job. */
import { sql } from 'drizzle-orm';
import type { InputBlock } from '../../../core/conversation/blocks.ts';
import type { ContextId, JobId, MessageId, TenantId } from '../../../core/ids.ts';
import type { Executor } from '../../connection/client.ts';
import { EncodedJson } from '../../rows/encoded-json.ts';

type Steering = {
  tenantId: TenantId;
  contextId: ContextId;
  jobId: JobId;
  messageId: MessageId;
  content: InputBlock[];
  queueLimit: number;
};

/**
 * Queues an input for the next step of a running job. The caller has locked the context's row and raised `control_seq`.
 * Null: refused; the context's row shows why.
 */
export async function steer(tx: Executor, steering: Steering): Promise<{ headSeq: number } | null> {
  const { tenantId, contextId, jobId, messageId, queueLimit } = steering;
  const content = new EncodedJson(steering.content);
  const [row] = await tx.execute<{ headSeq: number }>(sql`/* inputs.steer */
    with ctx as (
      update contexts c set steers = c.steers + 1, stored_bytes = c.stored_bytes + ${content.bytes}::bigint
      where c.id = ${contextId} and c.tenant_id = ${tenantId} and not c.stopped and c.queued + c.steers < ${queueLimit}
      returning c.id, c.tenant_id, c.head_seq
    ), input as (
      insert into messages (id, tenant_id, context_id, branch, role, type, status, content, job_id)
      select ${messageId}::uuid, ctx.tenant_id, ctx.id, j.branch, 'user', 'text', 'queued',
        ${content.text}::json, j.id
      from ctx join jobs j on j.id = ${jobId} and j.context_id = ctx.id
    )
    select head_seq as "headSeq" from ctx`);
  return row ?? null;
}
