/**
 * An input message, or the wish to run on what stands, enters a context: as a queued job of its own, or into the one that
 * runs.
 */
import type { InputBlock } from '../core/blocks.ts';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import type { ContextId, JobId, MessageId, TenantId } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import type { Executor } from '../db/client.ts';
import { admission } from '../db/context-views.ts';
import { activeJob, steerableJob } from '../db/job-views.ts';
import { steer, submit } from '../db/submit.ts';
import type { Submitted } from '../db/submit.ts';
import { callUp, raiseControl, wish } from '../db/wishes.ts';
import { done } from './perform.ts';
import type { Command, Tidings } from './perform.ts';
import type { CommandPorts } from './ports.ts';
import { carryOut } from './settle.ts';

/**
 * What becomes of an input while a job is unfinished: it waits its turn, joins the job, takes its place, or is refused.
 */
export const DELIVERIES = ['queue', 'steer', 'interrupt', 'reject'] as const;
export type Delivery = (typeof DELIVERIES)[number];

export type SubmitInput = {
  tenantId: TenantId;
  contextId: ContextId;
  /** Null: run on what stands. */
  content: InputBlock[] | null;
  delivery: Delivery;
  /** 1 first … 10. */
  priority: number;
  metadata: JsonObject;
  maxSteps: number | null;
  deadline: Millis | null;
  queueLimit: number;
};

/** `after`: the context's number at which it was accepted. */
export type Accepted = { jobId: JobId; messageId: MessageId | null; contextId: ContextId; after: number };

/** Ahead of all that is queued. */
const FIRST = 0;

/**
 * In a transaction where `needsTransaction` says so, else one statement. Refused: `not_found`, `worker_stopped`,
 * `context_busy`, `queue_full`.
 */
export function submitInput(
  ports: Pick<CommandPorts, 'ids' | 'times' | 'stopGraceMs'>,
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

/** Whoever joins or interrupts a job looks at it first. */
export function needsTransaction(delivery: Delivery): boolean {
  return delivery === 'steer' || delivery === 'interrupt';
}

function queueInput(ports: Pick<CommandPorts, 'ids'>, input: SubmitInput): Command<Accepted> {
  return async (executor) => {
    const { accepted, submitted } = await queue(executor, ports, input, input.delivery === 'reject');
    if (submitted === null) return whyRefused(executor, input);
    return done({ ...accepted, after: submitted.headSeq }, ...ringFor(input, submitted));
  };
}

/**
 * Joins the running job at its next step, which is told to look; where none runs, or the one that does was told to end, it
 * is a job of its own.
 */
function steerInput(
  ports: Pick<CommandPorts, 'ids'>,
  input: SubmitInput & { content: InputBlock[] },
): Command<Accepted> {
  return async (tx) => {
    const { tenantId, contextId, content, queueLimit } = input;
    if (!(await raiseControl(tx, tenantId, contextId))) return whyRefused(tx, input);
    const jobId = await steerableJob(tx, tenantId, contextId);
    if (jobId === null) return queueInput(ports, input)(tx);
    const messageId = ports.ids.next<MessageId>();
    const joined = await steer(tx, { tenantId, contextId, jobId, messageId, content, queueLimit });
    if (joined === null) return whyRefused(tx, input);
    return done({ jobId, messageId, contextId, after: joined.headSeq });
  };
}

/** What runs is interrupted, and its answer discarded; then this input, ahead of what is queued. */
function interruptingInput(
  ports: Pick<CommandPorts, 'ids' | 'times' | 'stopGraceMs'>,
  input: SubmitInput,
): Command<Accepted> {
  return async (tx) => {
    const { tenantId, contextId } = input;
    const called = await callUp(tx, tenantId, contextId, ports.times);
    if (called === null) return whyRefused(tx, input);
    const { accepted, submitted } = await queue(tx, ports, { ...input, priority: FIRST }, false);
    if (submitted === null) return whyRefused(tx, input);
    const running = await activeJob(tx, tenantId, contextId);
    if (running === null) {
      return done({ ...accepted, after: submitted.headSeq }, ...ringFor(input, submitted));
    }
    await wish(tx, tenantId, running, { kind: 'interrupt', mode: 'discard' }, null, ports.stopGraceMs);
    const tidings = await carryOut(tx, contextId, called, ports.ids);
    return done({ ...accepted, after: submitted.headSeq }, ...tidings);
  };
}

async function queue(
  executor: Executor,
  { ids }: Pick<CommandPorts, 'ids'>,
  input: SubmitInput,
  onlyIfIdle: boolean,
) {
  const { contextId, content } = input;
  const jobId = ids.next<JobId>();
  const messageId = content === null ? null : ids.next<MessageId>();
  const submitted = await submit(executor, {
    ...input,
    jobId,
    input: content === null || messageId === null ? null : { messageId, content },
    onlyIfIdle,
  });
  return { accepted: { jobId, messageId, contextId }, submitted };
}

function ringFor({ contextId }: SubmitInput, { wakeSeq, epoch, runnable }: Submitted): Tidings[] {
  return runnable ? [{ kind: 'ring', ring: { contextId, wakeSeq, epoch } }] : [];
}

async function whyRefused(
  executor: Executor,
  { tenantId, contextId, queueLimit }: SubmitInput,
): Promise<Refusal> {
  const state = await admission(executor, tenantId, contextId);
  if (state === null) return refuse('not_found', `There is no context ${contextId}.`);
  if (state.stopped) return refuse('worker_stopped', 'The worker is stopped. Start it first.');
  if (state.queued >= queueLimit)
    return refuse('queue_full', `The context already has ${state.queued} queued inputs.`);
  return refuse('context_busy', 'A job of this context is unfinished.');
}
