/** Compacts a context on request: as a job of its own, queued like any other. */
import type { AskedCompaction } from '../../core/compaction/settings.ts';
import type { ContextId, JobId, TenantId } from '../../core/ids.ts';
import { submit } from '../../db/write/inputs/submit.ts';
import { done } from '../perform.ts';
import type { Command, AfterCommit } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';
import { whyRefused } from '../inputs/submit-input.ts';

export type CompactContext = {
  tenantId: TenantId;
  contextId: ContextId;
  asked: AskedCompaction;
  queueLimit: number;
};

/** The same priority as inputs. */
const NORMAL = 5;

/** One statement. Refused: `not_found`, `worker_stopped`, `queue_full`. */
export function compactContext(
  { ids }: Pick<CommandPorts, 'ids'>,
  { tenantId, contextId, asked, queueLimit }: CompactContext,
): Command<{ jobId: JobId }> {
  return async (executor) => {
    const jobId = ids.next<JobId>();
    const submitted = await submit(executor, {
      tenantId,
      contextId,
      jobId,
      input: null,
      compaction: asked,
      branch: null,
      priority: NORMAL,
      metadata: {},
      maxSteps: null,
      deadline: null,
      mayAnswer: false,
      onlyIfIdle: false,
      queueLimit,
    });
    if (submitted === null) return whyRefused(executor, { tenantId, contextId, queueLimit });
    const { wakeSeq, epoch, runnable } = submitted;
    const wakeUps: AfterCommit[] = runnable
      ? [{ kind: 'wake_up', wakeUp: { contextId, wakeSeq, epoch } }]
      : [];
    return done({ jobId }, ...wakeUps);
  };
}
