/** Turns a posted message into a queued job, for contexts and workers. */
import type { Static } from 'typebox';
import { NORMAL } from '../../commands/inputs/enqueue.ts';
import type {
  Accepted as AcceptedJob,
  FirstInput,
  JobOptions,
  SubmitInput,
  SubmitPorts,
} from '../../commands/inputs/posted-input.ts';
import { submitInput } from '../../commands/inputs/submit-input.ts';
import type { AnyCommand } from '../../commands/perform.ts';
import type { InputBlock } from '../../core/conversation/blocks.ts';
import type { ContextId, TenantId } from '../../core/ids.ts';
import { answeredBy } from './write.ts';
import { parseInstant } from './instant.ts';
import type { Accepted, FirstMessage, PostJob, PostMessage } from '../schemas/messages/message.ts';

type Posted = Static<typeof PostMessage> | (Static<typeof PostJob> & { content?: never; delivery?: never });

/** Where a job is queued, and how many may be queued there. */
type Target = Pick<SubmitInput, 'tenantId' | 'contextId' | 'queueLimit'>;

type Options = Omit<Static<typeof PostMessage>, 'content'>;

/** Without content, the job runs on the existing history. */
export function submitPosted(ports: SubmitPorts, target: Target, posted: Posted): AnyCommand<Accepted> {
  const content = posted.content === undefined ? null : toBlocks(posted.content);
  const input: SubmitInput = { ...toSubmitInput(target, posted), content };
  return answeredBy(submitInput(ports, input), async (_, accepted) => toAccepted(accepted));
}

export function queueOf(
  { config }: { config: { queueLimit: number } },
  tenantId: TenantId,
  contextId: ContextId,
): Target {
  return { tenantId, contextId, queueLimit: config.queueLimit };
}

export function toSubmitInput(
  { tenantId, contextId, queueLimit }: Target,
  posted: Options,
): Omit<SubmitInput, 'content'> {
  return {
    tenantId,
    contextId,
    delivery: posted.delivery ?? 'queue',
    branch: posted.branch ?? null,
    ...toJobOptions(posted, 'deadline'),
    queueLimit,
  };
}

export function toFirstInput(posted: Static<typeof FirstMessage>): FirstInput {
  return { content: toBlocks(posted.content), ...toJobOptions(posted, 'input.deadline') };
}

/** Options that are not given get their defaults. `deadlineAt`: the path of the deadline in the body. */
function toJobOptions(
  { priority = NORMAL, metadata = {}, max_steps, deadline }: Options,
  deadlineAt: string,
): Omit<JobOptions, 'content'> {
  return { priority, metadata, maxSteps: max_steps ?? null, deadline: parseInstant(deadline, deadlineAt) };
}

export function toBlocks(content: string | InputBlock[]): InputBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

export function toAccepted({ jobId, messageId, contextId, status, after }: AcceptedJob): Accepted {
  return {
    job_id: jobId,
    message_id: messageId,
    context_id: contextId,
    status,
    stream_url: streamUrl(contextId, after),
  };
}

/** The event stream from the input on. */
function streamUrl(contextId: ContextId, after: number): string {
  return `/api/contexts/${contextId}/events?after=${after}`;
}
