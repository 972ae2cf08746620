/**
 * The rows that queue jobs: each job, and the input that it answers. In their SQL, `ctx` are the rows of the contexts,
 * which the same statement updates or inserts: `id`, `tenant_id`, `wake_seq`, and the `branch` of the job.
 */
import type { TraceParent } from '../../../core/tracing/trace-parent.ts';
import { sql, type Placeholder, type SQL } from 'drizzle-orm';
import type { InputBlock } from '../../../core/conversation/blocks.ts';
import type { AskedCompaction } from '../../../core/compaction/settings.ts';
import type { ContextId, JobId, MessageId, ToolCallId, WorkerId } from '../../../core/ids.ts';
import type { JobKind } from '../../../core/run/job.ts';
import type { OutputSchema } from '../../../core/run/output.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { Millis } from '../../../core/time.ts';
import type { User } from '../../../core/access/user.ts';
import { EncodedJson } from '../../rows/encoded-json.ts';
import { jsonArray, recordset } from '../../rows/recordset.ts';
import { written, type Changed } from '../../rows/written-columns.ts';
import { jobs } from '../../schema/jobs.ts';
import { messages } from '../../schema/messages.ts';

export type NewInput = { messageId: MessageId; content: InputBlock[] };

/** A job to queue. */
export type NewJob = {
  jobId: JobId;
  /** Null: a retry or a compaction, without an input. */
  input: NewInput | null;
  /** The settings of a compaction; null: not a compaction. */
  compaction: AskedCompaction | null;
  /** 1 runs first … 10; 0: before all others, in order of submission among themselves. */
  priority: number;
  metadata: JsonObject;
  /** On whose behalf it runs; null: that of the worker. */
  user: User | null;
  maxSteps: number | null;
  /** What its answer must match; null: what the settings of the worker say. */
  outputSchema: OutputSchema | null;
  deadline: Millis | null;
  /** Its place in the trace of its caller; null: the caller gave none. */
  traceParent: TraceParent | null;
};

/** The sender of an input from a worker, or of a parent notice. */
export type Asker = {
  workerId: WorkerId;
  /** See `jobs.hops`. */
  hops: number;
  /** The sender's job: the new job ends with it. */
  parentJobId: JobId | null;
  /** On whose behalf the sender works. */
  user: User | null;
  /** The call that sends it. A call can send only one job. */
  toolCallId: ToolCallId | null;
  /** Whether the sender gets a parent notice when the job ends. */
  notifyParent: boolean;
  /** The job whose end this input reports. It is reported only once. */
  noticeOfJobId: JobId | null;
};

/** `asker`: the worker that sends it; null: a client. */
type Given = { contextId: ContextId; job: NewJob; asker: Asker | null };
type GivenInput = Given & { messageId: MessageId; content: EncodedJson<InputBlock[]> };

const INPUT_COLUMNS = {
  id: ({ messageId }) => messageId,
  tenantId: sql`ctx.tenant_id`,
  contextId: ({ contextId }) => contextId,
  branch: sql`ctx.branch`,
  role: sql`'user'`,
  type: sql`'text'`,
  status: sql`'queued'`,
  content: ({ content }) => content,
  jobId: ({ job }) => job.jobId,
  senderWorkerId: ({ asker }) => asker?.workerId ?? null,
} satisfies Changed<typeof messages, GivenInput>;
const INPUT = written<typeof messages, GivenInput>(messages, INPUT_COLUMNS, { given: 'i' });
const INPUTS = recordset('i', INPUT.fields);

/** The inputs of the jobs that have one, from `SubmittedRows.inputs`. */
export const inputCte = INPUTS.around(`input as (${INPUT.insert} from ctx join `, ' on i.context_id = ctx.id)');

const JOB_COLUMNS = {
  id: ({ job }) => job.jobId,
  tenantId: sql`ctx.tenant_id`,
  contextId: ({ contextId }) => contextId,
  workerId: sql`w.id`,
  user: {
    of: ({ job, asker }) => (asker === null ? job.user : asker.user),
    as: (given) => sql`coalesce(${given}, w.user_name)`,
  },
  kind: ({ job }) => kindOf(job),
  branch: sql`ctx.branch`,
  priority: ({ job }) => job.priority,
  position: sql`ctx.wake_seq`,
  messageId: ({ job }) => job.input?.messageId ?? null,
  maxSteps: ({ job }) => job.maxSteps,
  outputSchema: ({ job }) => job.outputSchema,
  deadline: ({ job }) => job.deadline,
  metadata: ({ job }) => job.metadata,
  traceParent: ({ job }) => job.traceParent,
  compaction: ({ job }) => job.compaction,
  parentJobId: ({ asker }) => asker?.parentJobId ?? null,
  parentToolCallId: ({ asker }) => asker?.toolCallId ?? null,
  hops: ({ asker }) => asker?.hops ?? 0,
  parentNotice: ({ asker }) => (asker?.notifyParent === true ? 'wanted' : null),
  noticeOfJobId: ({ asker }) => asker?.noticeOfJobId ?? null,
} satisfies Changed<typeof jobs, Given>;
const JOB = written<typeof jobs, Given>(jobs, JOB_COLUMNS, { given: 'j' });
const JOBS = recordset('j', JOB.fields);

const jobsFor = (worker: string): ((json: Placeholder) => SQL) =>
  JOBS.around(
    `job as (${JOB.insert} from ctx join ${worker} w on w.context_id = ctx.id join `,
    ' on j.context_id = ctx.id)',
  );

/** The jobs from `SubmittedRows.jobs`, for stored workers. */
export const jobCte = jobsFor('workers');

/** The same, for workers that the statement inserts as `worker`. */
export const jobOfNewCte = jobsFor('worker');

const DELAYED = sql`'delayed'`;
const DELAYED_INPUT = written<typeof messages, GivenInput>(
  messages,
  { ...INPUT_COLUMNS, status: DELAYED },
  { given: 'i' },
);
const DELAYED_JOB = written<typeof jobs, Given>(
  jobs,
  { ...JOB_COLUMNS, status: DELAYED, position: sql`0`, startsAt: sql`ctx.starts_at` },
  { given: 'j' },
);

/** The same rows, of which none is queued yet. `ctx` also has `starts_at`, which is when they join the queue. */
export const delayedInputCte = INPUTS.around(
  `input as (${DELAYED_INPUT.insert} from ctx join `,
  ' on i.context_id = ctx.id)',
);
export const delayedJobCte = JOBS.around(
  `job as (${DELAYED_JOB.insert} from ctx join workers w on w.context_id = ctx.id join `,
  ' on j.context_id = ctx.id)',
);

/** JSON of the rows to insert; null: no row. `bytes`: of the content of the input; its context counts them. */
export type SubmittedRow = { input: string | null; job: string | null; bytes: number };
/** JSON of all rows to insert. */
export type SubmittedRows = { inputs: string; jobs: string };

export const NO_JOB: SubmittedRow = { input: null, job: null, bytes: 0 };

export function submittedRow(given: Given): SubmittedRow {
  const { input } = given.job;
  const job = JOBS.encode(given);
  if (input === null) return { input: null, job, bytes: 0 };
  const content = new EncodedJson(input.content);
  return { input: INPUTS.encode({ ...given, messageId: input.messageId, content }), job, bytes: content.bytes };
}

export function submittedRows(rows: readonly SubmittedRow[]): SubmittedRows {
  return {
    inputs: jsonArray(rows.flatMap(({ input }) => input ?? [])),
    jobs: jsonArray(rows.flatMap(({ job }) => job ?? [])),
  };
}

function kindOf({ input, compaction }: NewJob): JobKind {
  if (compaction !== null) return 'compact';
  return input === null ? 'retry' : 'input';
}
