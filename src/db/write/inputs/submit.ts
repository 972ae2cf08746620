/**
 * Submit: adds an input, a retry or a compaction to a context's mailbox. One statement that joins the update of the
 * context's row: its lock orders submits, and its `wake_seq` is their place in the queue.
 */
import { sql } from 'drizzle-orm';
import type { InputBlock } from '../../../core/conversation/blocks.ts';
import type { AskedCompaction } from '../../../core/compaction/settings.ts';
import type { ContextId, JobId, MessageId, TenantId, ToolCallId, WorkerId } from '../../../core/ids.ts';
import type { JobKind } from '../../../core/run/job.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { Millis } from '../../../core/time.ts';
import type { Executor } from '../../connection/client.ts';
import { WAKE_UP_GRACE_MS, dueNow } from '../../connection/instant.ts';
import { recordset } from '../../rows/recordset.ts';
import { written } from '../../rows/written-columns.ts';
import { jobs } from '../../schema/jobs.ts';
import { messages } from '../../schema/messages.ts';
import { hasQuestion } from '../../calls/replies.ts';
import { changedContextColumns, type ChangedContext } from '../../run/contexts.ts';

export type Submission = {
  tenantId: TenantId;
  contextId: ContextId;
  jobId: JobId;
  /** Null: a retry or a compaction, without an input. */
  input: { messageId: MessageId; content: InputBlock[] } | null;
  /** The settings of a compaction; null: not a compaction. */
  compaction: AskedCompaction | null;
  /** An existing branch, checked under the context's row lock; null: the active branch. */
  branch: string | null;
  /** 1 runs first … 10; 0: before all others, in order of submission among themselves. */
  priority: number;
  metadata: JsonObject;
  maxSteps: number | null;
  deadline: Millis | null;
  /** Refused if a question is waiting that this input could answer. */
  mayAnswer: boolean;
  /** Refused if the context has an unfinished job. */
  onlyIfIdle: boolean;
  /** Refused if this many inputs are queued. */
  queueLimit: number;
};

/** The sender of an input from a worker, or of a parent notice. */
export type Asker = {
  workerId: WorkerId;
  /** See `jobs.hops`. */
  hops: number;
  /** The sender's job: the new job ends with it. */
  parentJobId: JobId | null;
  /** The call that sends it. A call can send only one job. */
  toolCallId: ToolCallId | null;
  /** Whether the sender gets a parent notice when the job ends. */
  notifyParent: boolean;
  /** The job whose end this input reports. It is reported only once. */
  noticeOfJobId: JobId | null;
};

/** `asker`: the worker that sends it; null: a client. Returns null if refused; the context's row shows why. */
export async function submit(
  executor: Executor,
  submission: Submission,
  asker: Asker | null = null,
): Promise<ChangedContext | null> {
  const { tenantId, contextId, input, branch, mayAnswer, onlyIfIdle, queueLimit } = submission;
  const [row] = await executor.execute<ChangedContext>(sql`/* jobs.submit */
    with ctx as (
      update contexts c set
        wake_seq = c.wake_seq + 1,
        queued = c.queued + 1,
        scheduling_status = case when c.scheduling_status = 'idle' then 'runnable' else c.scheduling_status end,
        next_check_at = case when c.scheduling_status = 'idle'
          then clock_timestamp() + ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond' else c.next_check_at end
      where c.id = ${contextId} and c.tenant_id = ${tenantId} and not c.stopped and c.queued + c.steers < ${queueLimit}
        and (not ${onlyIfIdle}::boolean or (c.scheduling_status = 'idle' and c.queued = 0))
        and not (${mayAnswer}::boolean and ${hasQuestion})
      returning c.id, c.tenant_id, coalesce(${branch}::text, c.active_branch) as branch, c.head_seq, c.wake_seq,
        c.lease_epoch, c.scheduling_status
    ), ${inputsOf(input === null ? [] : [{ submission, asker, input }])},
    ${jobsOf([{ submission, asker }])}, awake as (
      -- Takes an archived context out of the archive. A sweep computes when it expires.
      update workers w set archived_at = null, expires_at = ${dueNow}
      from ctx where w.context_id = ctx.id and w.archived_at is not null
    )
    select ${changedContextColumns} from ctx`);
  return row ?? null;
}

type Given = { submission: Submission; asker: Asker | null };
type GivenInput = Given & { input: NonNullable<Submission['input']> };

const INPUT = written<typeof messages, GivenInput>(
  messages,
  {
    id: ({ input }) => input.messageId,
    tenantId: sql`ctx.tenant_id`,
    contextId: sql`ctx.id`,
    branch: sql`ctx.branch`,
    role: sql`'user'`,
    type: sql`'text'`,
    status: sql`'queued'`,
    content: ({ input }) => input.content,
    jobId: ({ submission }) => submission.jobId,
    senderWorkerId: ({ asker }) => asker?.workerId ?? null,
  },
  { given: 'i' },
);
const inputsOf = recordset('i', INPUT.fields).between(`input as (${INPUT.insert} from ctx, `, ')');

const JOB = written<typeof jobs, Given>(
  jobs,
  {
    id: ({ submission }) => submission.jobId,
    tenantId: sql`ctx.tenant_id`,
    contextId: sql`ctx.id`,
    workerId: sql`w.id`,
    kind: ({ submission }) => kindOf(submission),
    branch: sql`ctx.branch`,
    priority: ({ submission }) => submission.priority,
    position: sql`ctx.wake_seq`,
    messageId: ({ submission }) => submission.input?.messageId ?? null,
    maxSteps: ({ submission }) => submission.maxSteps,
    deadline: ({ submission }) => submission.deadline,
    metadata: ({ submission }) => submission.metadata,
    compaction: ({ submission }) => submission.compaction,
    parentJobId: ({ asker }) => asker?.parentJobId ?? null,
    parentToolCallId: ({ asker }) => asker?.toolCallId ?? null,
    hops: ({ asker }) => asker?.hops ?? 0,
    parentNotice: ({ asker }) => (asker?.notifyParent === true ? 'wanted' : null),
    noticeOfJobId: ({ asker }) => asker?.noticeOfJobId ?? null,
  },
  { given: 'j' },
);
const jobsOf = recordset('j', JOB.fields).between(
  `job as (${JOB.insert} from ctx join workers w on w.context_id = ctx.id, `,
  ')',
);

function kindOf({ input, compaction }: Submission): JobKind {
  if (compaction !== null) return 'compact';
  return input === null ? 'retry' : 'input';
}
