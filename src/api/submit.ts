/** What a client posts becomes a queued job: the same for a context and for its worker. */
import type { Static } from 'typebox';
import type { CommandPorts } from '../commands/ports.ts';
import { submitInput } from '../commands/submit-input.ts';
import type { Accepted as AcceptedJob, SubmitInput } from '../commands/submit-input.ts';
import type { Command } from '../commands/perform.ts';
import type { InputBlock } from '../core/blocks.ts';
import type { ContextId, TenantId } from '../core/ids.ts';
import { answeredBy } from './write.ts';
import { parseInstant } from './instant.ts';
import type { Accepted, PostJob, PostMessage } from './schemas/message.ts';

type Posted = Static<typeof PostMessage> | (Static<typeof PostJob> & { content?: never; delivery?: never });

/** Without content: runs on what stands. In a transaction where `needsTransaction` says so, else one statement. */
export function submitPosted(
  ports: Pick<CommandPorts, 'ids' | 'times' | 'stopGraceMs'>,
  queueLimit: number,
  tenantId: TenantId,
  contextId: ContextId,
  posted: Posted,
): Command<Accepted> {
  const input: SubmitInput = {
    tenantId,
    contextId,
    content: posted.content === undefined ? null : toBlocks(posted.content),
    delivery: posted.delivery ?? 'queue',
    priority: posted.priority ?? NORMAL,
    metadata: posted.metadata ?? {},
    maxSteps: posted.max_steps ?? null,
    deadline: parseInstant(posted.deadline, 'deadline'),
    queueLimit,
  };
  return answeredBy(submitInput(ports, input), async (_, accepted) => toAccepted(accepted));
}

/** The priority of an input that says nothing of it. */
const NORMAL = 5;

export function toBlocks(content: string | InputBlock[]): InputBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function toAccepted({ jobId, messageId, contextId, after }: AcceptedJob): Accepted {
  return {
    job_id: jobId,
    message_id: messageId,
    context_id: contextId,
    status: 'queued',
    stream_url: `/api/contexts/${contextId}/events?after=${after}`,
  };
}
