/**
 * Submit: adds an input, a retry or a compaction to a context's mailbox. One statement that joins the update of the
 * context's row: its lock orders submits, and its `wake_seq` is their place in the queue.
 */
import { sql } from 'drizzle-orm';
import type { ContextId, TenantId } from '../../../core/ids.ts';
import type { Executor } from '../../connection/client.ts';
import { WAKE_UP_GRACE_MS, dueNow } from '../../connection/instant.ts';
import { prepared } from '../../connection/prepared.ts';
import { hasQuestion } from '../../calls/replies.ts';
import { changedContextColumns, type ChangedContext } from '../../run/contexts.ts';
import {
  inputCte,
  jobCte,
  submittedRow,
  submittedRows,
  type Asker,
  type NewJob,
  type SubmittedRows,
} from './submission.ts';

export type Submission = NewJob & {
  tenantId: TenantId;
  contextId: ContextId;
  /** An existing branch, checked under the context's row lock; null: the active branch. */
  branch: string | null;
  /** Refused if a question is waiting that this input could answer. */
  mayAnswer: boolean;
  /** Refused if the context has an unfinished job. */
  onlyIfIdle: boolean;
  /** Refused if this many inputs are queued. */
  queueLimit: number;
};

/** `asker`: the worker that sends it; null: a client. Returns null if refused; the context's row shows why. */
export async function submit(
  executor: Executor,
  submission: Submission,
  asker: Asker | null = null,
): Promise<ChangedContext | null> {
  const { tenantId, contextId, branch, mayAnswer, onlyIfIdle, queueLimit } = submission;
  const rows = submittedRows([submittedRow({ contextId, job: submission, asker })]);
  const [row] = await executor.execute<ChangedContext>(
    statement({ tenantId, contextId, branch, mayAnswer, onlyIfIdle, queueLimit, ...rows }),
  );
  return row ?? null;
}

type Values = Omit<Submission, keyof NewJob> & SubmittedRows;

const statement = prepared<Values>(
  (value) => sql`/* jobs.submit */
    with ctx as (
      update contexts c set
        wake_seq = c.wake_seq + 1,
        queued = c.queued + 1,
        scheduling_status = case when c.scheduling_status = 'idle' then 'runnable' else c.scheduling_status end,
        next_check_at = case when c.scheduling_status = 'idle'
          then clock_timestamp() + ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond' else c.next_check_at end
      where c.id = ${value('contextId')} and c.tenant_id = ${value('tenantId')} and not c.stopped
        and c.queued + c.steers < ${value('queueLimit')}
        and (not ${value('onlyIfIdle')}::boolean or (c.scheduling_status = 'idle' and c.queued = 0))
        and not (${value('mayAnswer')}::boolean and ${hasQuestion})
      returning c.id, c.tenant_id, coalesce(${value('branch')}::text, c.active_branch) as branch, c.head_seq, c.wake_seq,
        c.lease_epoch, c.scheduling_status
    ), ${inputCte(value('inputs'))},
    ${jobCte(value('jobs'))}, awake as (
      -- Takes an archived context out of the archive. A sweep computes when it expires.
      update workers w set archived_at = null, expires_at = ${dueNow}
      from ctx where w.context_id = ctx.id and w.archived_at is not null
    )
    select ${changedContextColumns} from ctx`,
);
