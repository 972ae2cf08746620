/** Queues a job of its own: for an input, for a compaction, for a message from another worker. */
import type { Refusal } from '../../core/errors.ts';
import type { ContextId, Ids, JobId, MessageId } from '../../core/ids.ts';
import type { Executor } from '../../db/connection/client.ts';
import type { ChangedContext } from '../../db/run/contexts.ts';
import { submit, type Submission } from '../../db/write/inputs/submit.ts';
import type { Asker, NewInput, NewJob } from '../../db/write/inputs/submission.ts';
import { wakeUpIfRunnable, type AfterCommit } from '../after-commit.ts';
import { done, type Done, type Outcome } from '../perform.ts';
import type { Accepted, FirstInput, JobOptions, SubmitInput } from './posted-input.ts';
import { whyRefused } from './refusals.ts';

/** The default priority. */
export const NORMAL = 5;

/** `full`: why the tenant may have no more jobs, or no more content; null: it may. */
type Enqueued = Submission & Pick<SubmitInput, 'full'>;

/** Default options: the active branch, the default priority, no limits. */
export const PLAIN_JOB = {
  compaction: null,
  branch: null,
  priority: NORMAL,
  metadata: {},
  user: null,
  maxSteps: null,
  outputSchema: null,
  deadline: null,
  traceParent: null,
  mayAnswer: false,
  onlyIfIdle: false,
  full: null,
} satisfies Partial<Enqueued>;

/** By one statement. Refused: `not_found`, `worker_stopped`, `quota_exceeded`, `queue_full`. */
export async function enqueue(
  executor: Executor,
  submission: Enqueued,
  asker: Asker | null = null,
): Promise<{ kind: 'enqueued'; wakeUps: AfterCommit[] } | Refusal> {
  const submitted = submission.full === null ? await submit(executor, submission, asker) : null;
  if (submitted === null) return whyRefused(executor, submission);
  return { kind: 'enqueued', wakeUps: wakeUpIfRunnable(submission.contextId, submitted) };
}

/** Queues an input even if a question waits. Refused like `enqueue`. */
export async function enqueueInput(executor: Executor, ids: Ids, input: SubmitInput): Promise<Outcome<Accepted>> {
  const job = newJob(ids, input);
  const submission = { ...input, ...job, mayAnswer: false, onlyIfIdle: false };
  const submitted = input.full === null ? await submit(executor, submission) : null;
  return submitted === null ? whyRefused(executor, input) : queued(input.contextId, job, submitted);
}

/** The job of an input, or without one. */
export function newJob(ids: Ids, options: JobOptions): NewJob {
  const { content } = options;
  return content === null ? jobWith(ids, options, null) : jobOfInput(ids, { ...options, content });
}

export function jobOfInput(ids: Ids, input: FirstInput): NewJob & { input: NewInput } {
  return jobWith(ids, input, { messageId: ids.next<MessageId>(), content: input.content });
}

function jobWith<Input extends NewInput | null>(
  ids: Ids,
  { priority, metadata, user, maxSteps, outputSchema, deadline, traceParent }: JobOptions,
  input: Input,
): NewJob & { input: Input } {
  const options = { priority, metadata, user, maxSteps, outputSchema, deadline, traceParent };
  return { jobId: ids.next<JobId>(), input, compaction: null, ...options };
}

/** The receipt of a queued job, and its wake-up. */
export function queued(contextId: ContextId, { jobId, input }: NewJob, context: ChangedContext): Done<Accepted> {
  const messageId = input?.messageId ?? null;
  const accepted = { jobId, messageId, contextId, status: 'queued', after: context.headSeq } as const;
  return done(accepted, ...wakeUpIfRunnable(contextId, context));
}
