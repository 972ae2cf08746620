/**
 * Submits an input message to a context: as a queued job, into the running job, or as the answer to a waiting question.
 * A submission without a message runs on the current history.
 */
import type { InputBlock } from '../../core/conversation/blocks.ts';
import { refuse } from '../../core/errors.ts';
import type { Refusal } from '../../core/errors.ts';
import type { ContextId, JobId, MessageId, TenantId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../../db/connection/client.ts';
import { findBranch, lockContext } from '../../db/write/contexts/branches.ts';
import { admission } from '../../db/write/inputs/admission.ts';
import type { Admission } from '../../db/write/inputs/admission.ts';
import { activeJob, steerableJob } from '../../db/read/jobs/job-views.ts';
import { oldestQuestion } from '../../db/calls/replies.ts';
import { steer, submit } from '../../db/write/inputs/submit.ts';
import type { Submission, Submitted } from '../../db/write/inputs/submit.ts';
import { lockForControl, raiseControl, writeStopRequest } from '../../db/run/stop-requests.ts';
import { takeAnswer } from '../calls/answer-call.ts';
import type { CallAnswer } from '../calls/answer-call.ts';
import { done } from '../perform.ts';
import type { Command, Done, AfterCommit } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';
import { carryOut } from '../jobs/settle.ts';

/** How an input is delivered while a job is unfinished: it is queued, joins the job, replaces it, or is refused. */
export const DELIVERIES = ['queue', 'steer', 'interrupt', 'reject'] as const;
export type Delivery = (typeof DELIVERIES)[number];

export type SubmitInput = {
  tenantId: TenantId;
  contextId: ContextId;
  /** Null: run on the current history. */
  content: InputBlock[] | null;
  delivery: Delivery;
  /** The branch; null: the active one. */
  branch: string | null;
  /** From 1 (first) to 10. */
  priority: number;
  metadata: JsonObject;
  maxSteps: number | null;
  deadline: Millis | null;
  queueLimit: number;
};

/**
 * `after`: the context's event number when the input was accepted. `status`: of the job, which is queued unless the
 * input joined it.
 */
export type Accepted = {
  jobId: JobId;
  messageId: MessageId | null;
  contextId: ContextId;
  status: 'queued' | 'running' | 'waiting';
  after: number;
};

/** The default priority. */
export const NORMAL = 5;

/** Ahead of all queued jobs. */
const FIRST = 0;

/**
 * In a transaction if `needsTransaction` returns true, else in one statement, with its own transaction if the input
 * answers a question. Refused: `not_found` (also for the branch), `worker_stopped`, `context_busy`, `queue_full`.
 */
export function submitInput(
  ports: Pick<CommandPorts, 'database' | 'boundResult' | 'ids' | 'times' | 'stopGraceMs'>,
  input: SubmitInput,
): Command<Accepted> {
  const { delivery, content } = input;
  switch (delivery) {
    case 'queue':
    case 'reject':
      return queueInput(ports, input);
    case 'steer':
      return content === null ? queueInput(ports, input) : steerInput(ports, { ...input, content });
    case 'interrupt':
      return interruptingInput(ports, input);
  }
}

/** To join or interrupt a job, or to name a branch, the command has to read first. */
export function needsTransaction(delivery: Delivery, branch: string | null = null): boolean {
  return delivery === 'steer' || delivery === 'interrupt' || branch !== null;
}

/**
 * A plain input answers a waiting question. The statement that would queue the input finds out whether there is one.
 */
function queueInput(
  ports: Pick<CommandPorts, 'database' | 'boundResult' | 'ids'>,
  input: SubmitInput,
): Command<Accepted> {
  const answer = answerIn(input);
  return async (executor) => {
    const missing = await branchMissing(executor, input);
    if (missing !== null) return missing;
    const { accepted, submitted } = await queue(executor, ports, input, {
      mayAnswer: answer !== null,
      onlyIfIdle: input.delivery === 'reject',
    });
    if (submitted !== null) return queued(input, accepted, submitted);
    const state = await admission(executor, input.tenantId, input.contextId);
    const refusal = refusalOf(state, input);
    const isAsked = state?.asking === true || refusal.code === 'context_busy';
    if (answer === null || !isAsked) return refusal;
    const command = answerQuestion(ports, input, answer);
    // An answer needs a read first, and so a transaction.
    return executor === ports.database.db ? ports.database.transaction(command) : command(executor);
  };
}

/** Answers the oldest question. If it has an answer by now, or its job has a stop request, the input is queued. */
function answerQuestion(
  ports: Pick<CommandPorts, 'ids' | 'boundResult'>,
  input: SubmitInput,
  answer: CallAnswer,
): Command<Accepted> {
  return async (tx) => {
    const isThere = await lockContext(tx, input);
    // An input for one branch does not answer a question of another branch.
    const question = isThere ? await oldestQuestion(tx, input, input.branch) : null;
    if (question === null) {
      const { accepted, submitted } = await queue(tx, ports, input, { mayAnswer: false, onlyIfIdle: false });
      return submitted === null ? whyRefused(tx, input) : queued(input, accepted, submitted);
    }
    const { tenantId, contextId } = input;
    const target = { tenantId, contextId, toolCallId: question.id, jobId: question.jobId };
    return takeAnswer(tx, ports, target, answer);
  };
}

/**
 * The input as the answer to a question; null: it cannot be one. An input with its own priority is meant for the queue,
 * and a document cannot be the result of a call.
 */
function answerIn({ delivery, priority, content }: SubmitInput): CallAnswer | null {
  if (delivery !== 'queue' || priority !== NORMAL || content === null) return null;
  const parts = content.filter((block) => block.type !== 'document');
  const [first, ...more] = parts;
  if (first === undefined || parts.length < content.length) return null;
  return { content: first.type === 'text' && more.length === 0 ? first.text : parts, isError: false };
}

/**
 * Joins the running job at its next step, and signals the run. If no job runs, or the running job is on another branch
 * or has a stop request, the input becomes a job of its own.
 */
function steerInput(
  ports: Pick<CommandPorts, 'database' | 'boundResult' | 'ids'>,
  input: SubmitInput & { content: InputBlock[] },
): Command<Accepted> {
  return async (tx) => {
    const { tenantId, contextId, content, branch, queueLimit } = input;
    if (!(await raiseControl(tx, tenantId, contextId))) return whyRefused(tx, input);
    const job = await steerableJob(tx, tenantId, contextId, branch);
    if (job === null) return queueInput(ports, input)(tx);
    const messageId = ports.ids.next<MessageId>();
    const joined = await steer(tx, { tenantId, contextId, jobId: job.id, messageId, content, queueLimit });
    if (joined === null) return whyRefused(tx, input);
    return done({ jobId: job.id, messageId, contextId, status: job.status, after: joined.headSeq });
  };
}

/** Interrupts the running job, discards its answer, and queues this input ahead of the others. */
function interruptingInput(
  ports: Pick<CommandPorts, 'ids' | 'times' | 'stopGraceMs'>,
  input: SubmitInput,
): Command<Accepted> {
  return async (tx) => {
    const { tenantId, contextId } = input;
    const called = await lockForControl(tx, tenantId, contextId, ports.times);
    if (called === null) return whyRefused(tx, input);
    const refusal = await branchMissing(tx, input);
    if (refusal !== null) return refusal;
    const first = { ...input, priority: FIRST };
    const { accepted, submitted } = await queue(tx, ports, first, { mayAnswer: false, onlyIfIdle: false });
    if (submitted === null) return whyRefused(tx, input);
    const running = await activeJob(tx, tenantId, contextId);
    if (running === null) return queued(input, accepted, submitted);
    await writeStopRequest(tx, tenantId, running, {
      request: { kind: 'interrupt', mode: 'discard' },
      reason: null,
      graceMs: ports.stopGraceMs,
    });
    const afterCommit = await carryOut(tx, contextId, called, ports.ids);
    return done({ ...accepted, status: 'queued', after: submitted.headSeq }, ...afterCommit);
  };
}

async function queue(
  executor: Executor,
  { ids }: Pick<CommandPorts, 'ids'>,
  input: SubmitInput,
  unless: Pick<Submission, 'mayAnswer' | 'onlyIfIdle'>,
) {
  const { contextId, content } = input;
  const jobId = ids.next<JobId>();
  const messageId = content === null ? null : ids.next<MessageId>();
  const submitted = await submit(executor, {
    ...input,
    jobId,
    input: content === null || messageId === null ? null : { messageId, content },
    compaction: null,
    ...unless,
  });
  return { accepted: { jobId, messageId, contextId }, submitted };
}

function queued(
  { contextId }: SubmitInput,
  accepted: Omit<Accepted, 'status' | 'after'>,
  { headSeq, wakeSeq, epoch, runnable }: Submitted,
): Done<Accepted> {
  const wakeUps: AfterCommit[] = runnable ? [{ kind: 'wake_up', wakeUp: { contextId, wakeSeq, epoch } }] : [];
  return done({ ...accepted, status: 'queued', after: headSeq }, ...wakeUps);
}

/**
 * Read under the lock of the context's row, so that no other command deletes the branch meanwhile. Null: it exists, or
 * none is named.
 */
async function branchMissing(executor: Executor, input: SubmitInput): Promise<Refusal | null> {
  const { branch } = input;
  if (branch === null) return null;
  if (!(await lockContext(executor, input))) return whyRefused(executor, input);
  return (await findBranch(executor, input, branch)) === null ? noBranch(branch) : null;
}

/** `param`: the field that names it; null: the path names it. */
export function noBranch(name: string, param: string | null = 'branch'): Refusal {
  return refuse('not_found', `No branch has the name ${name}.`, param ?? undefined);
}

export async function whyRefused(executor: Executor, input: Asked): Promise<Refusal> {
  return refusalOf(await admission(executor, input.tenantId, input.contextId), input);
}

/** The context and the limit of any submission to the queue. */
type Asked = Pick<SubmitInput, 'tenantId' | 'contextId' | 'queueLimit'>;

function refusalOf(state: Admission | null, { contextId, queueLimit }: Asked): Refusal {
  if (state === null) return refuse('not_found', `No context has the id ${contextId}.`);
  if (state.stopped) return refuse('worker_stopped', 'The worker is stopped. Start it first.');
  if (state.queued >= queueLimit)
    return refuse(
      'queue_full',
      `The context already has ${state.queued} queued inputs. Wait until it has processed some.`,
    );
  return refuse('context_busy', 'A job of this context is unfinished. Cancel it or wait for its end.');
}
