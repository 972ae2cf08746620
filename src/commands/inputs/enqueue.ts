/** Queues a job of its own: for an input, for a compaction, for a message from another worker. */
import type { Refusal } from '../../core/errors.ts';
import type { Ids, JobId, MessageId } from '../../core/ids.ts';
import type { Executor } from '../../db/connection/client.ts';
import type { ChangedContext } from '../../db/run/contexts.ts';
import { submit, type Asker, type Submission } from '../../db/write/inputs/submit.ts';
import { wakeUpIfRunnable, type AfterCommit } from '../after-commit.ts';
import { done, type Done, type Outcome } from '../perform.ts';
import type { Accepted, SubmitInput } from './posted-input.ts';
import { whyRefused } from './refusals.ts';

/** The default priority. */
export const NORMAL = 5;

/** Default options: the active branch, the default priority, no limits. */
export const PLAIN_JOB = {
  compaction: null,
  branch: null,
  priority: NORMAL,
  metadata: {},
  maxSteps: null,
  deadline: null,
  mayAnswer: false,
  onlyIfIdle: false,
} satisfies Partial<Submission>;

/** By one statement. Refused: `not_found`, `worker_stopped`, `queue_full`. */
export async function enqueue(
  executor: Executor,
  submission: Submission,
  asker: Asker | null = null,
): Promise<{ kind: 'enqueued'; wakeUps: AfterCommit[] } | Refusal> {
  const submitted = await submit(executor, submission, asker);
  if (submitted === null) return whyRefused(executor, submission);
  return { kind: 'enqueued', wakeUps: wakeUpIfRunnable(submission.contextId, submitted) };
}

/** Queues an input even if a question waits. Refused like `enqueue`. */
export async function enqueueInput(executor: Executor, ids: Ids, input: SubmitInput): Promise<Outcome<Accepted>> {
  const job = newJob(ids, input);
  const submitted = await submit(executor, { ...job, mayAnswer: false, onlyIfIdle: false });
  return submitted === null ? whyRefused(executor, input) : queued(job, submitted);
}

type NewJob = Omit<Submission, 'mayAnswer' | 'onlyIfIdle'>;

/** The job of an input. */
export function newJob(ids: Ids, input: SubmitInput): NewJob {
  const { content } = input;
  const jobId = ids.next<JobId>();
  const message = content === null ? null : { messageId: ids.next<MessageId>(), content };
  return { ...input, jobId, input: message, compaction: null };
}

/** The receipt of a queued job, and its wake-up. */
export function queued({ contextId, jobId, input }: NewJob, submitted: ChangedContext): Done<Accepted> {
  const messageId = input?.messageId ?? null;
  const accepted = { jobId, messageId, contextId, status: 'queued', after: submitted.headSeq } as const;
  return done(accepted, ...wakeUpIfRunnable(contextId, submitted));
}
