/** An input message, or the wish to run on what stands, becomes a queued job. */
import type { InputBlock } from '../core/blocks.ts';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import type { ContextId, JobId, MessageId, TenantId } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import type { Executor } from '../db/client.ts';
import { admission } from '../db/context-views.ts';
import { submit } from '../db/submit.ts';
import { done } from './perform.ts';
import type { Command, Tidings } from './perform.ts';
import type { CommandPorts } from './ports.ts';

export type SubmitInput = {
  tenantId: TenantId;
  contextId: ContextId;
  /** Null: run on what stands. */
  content: InputBlock[] | null;
  delivery: 'queue' | 'reject';
  metadata: JsonObject;
  maxSteps: number | null;
  deadline: Millis | null;
  queueLimit: number;
};

/** `after`: the context's number at which it was accepted. */
export type Accepted = { jobId: JobId; messageId: MessageId | null; contextId: ContextId; after: number };

/** One statement. Refused: `not_found`, `worker_stopped`, `context_busy`, `queue_full`. */
export function submitInput({ ids }: Pick<CommandPorts, 'ids'>, input: SubmitInput): Command<Accepted> {
  return async (executor) => {
    const { tenantId, contextId, content } = input;
    const jobId = ids.next<JobId>();
    const messageId = content === null ? null : ids.next<MessageId>();
    const submitted = await submit(executor, {
      ...input,
      jobId,
      input: content === null || messageId === null ? null : { messageId, content },
      onlyIfIdle: input.delivery === 'reject',
    });
    if (submitted === null) return whyRefused(executor, tenantId, contextId, input.queueLimit);
    const { headSeq, wakeSeq, epoch, runnable } = submitted;
    const rings: Tidings[] = runnable ? [{ kind: 'ring', ring: { contextId, wakeSeq, epoch } }] : [];
    return done({ jobId, messageId, contextId, after: headSeq }, ...rings);
  };
}

async function whyRefused(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  queueLimit: number,
): Promise<Refusal> {
  const state = await admission(executor, tenantId, contextId);
  if (state === null) return refuse('not_found', `There is no context ${contextId}.`);
  if (state.stopped) return refuse('worker_stopped', 'The worker is stopped. Start it first.');
  if (state.queued >= queueLimit)
    return refuse('queue_full', `The context already has ${state.queued} queued inputs.`);
  return refuse('context_busy', 'A job of this context is unfinished.');
}
