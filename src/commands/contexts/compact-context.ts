/** Compacts a context on request: as a job of its own, queued like any other. */
import type { TraceParent } from '../../core/tracing/trace-parent.ts';
import type { AskedCompaction } from '../../core/compaction/settings.ts';
import type { Refusal } from '../../core/errors.ts';
import type { ContextId, JobId, TenantId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { User } from '../../core/access/user.ts';
import { PLAIN_JOB, enqueue } from '../inputs/enqueue.ts';
import { done, type OneStatement } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';

type CompactContext = {
  tenantId: TenantId;
  contextId: ContextId;
  asked: AskedCompaction;
  /** Null, the default: that of the worker. */
  user?: User | null;
  metadata?: JsonObject;
  queueLimit: number;
  /** Null, the default: the tenant may have more jobs. */
  full?: Refusal | null;
  /** Null, the default: the caller gave none. */
  traceParent?: TraceParent | null;
};

/** Refused: `not_found`, `worker_stopped`, `quota_exceeded`, `queue_full`. */
export function compactContext(
  { ids }: Pick<CommandPorts, 'ids'>,
  {
    tenantId,
    contextId,
    asked,
    user = null,
    metadata = {},
    queueLimit,
    full = null,
    traceParent = null,
  }: CompactContext,
): OneStatement<{ jobId: JobId }> {
  return {
    async statement(executor) {
      const jobId = ids.next<JobId>();
      const enqueued = await enqueue(executor, {
        ...PLAIN_JOB,
        tenantId,
        contextId,
        jobId,
        input: null,
        compaction: asked,
        user,
        metadata,
        queueLimit,
        full,
        traceParent,
      });
      return enqueued.kind === 'refused' ? enqueued : done({ jobId }, ...enqueued.wakeUps);
    },
  };
}
