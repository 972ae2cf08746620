/** Converts messages to their API form: stored blocks without data of the provider. */
import { toPublicActor } from '../../core/access/actor.ts';
import type { Retraction } from '../../core/conversation/retraction.ts';
import type { Block, ResultPart } from '../../core/conversation/blocks.ts';
import { toPublicUsage } from '../../core/money/usage.ts';
import type { MessageView } from '../../db/read/messages/message-views.ts';
import { toIso, toIsoOrNull } from '../request/instant.ts';
import type { ContentBlock, Message } from '../schemas/messages/message.ts';

export function toMessage(view: MessageView): Message {
  return {
    id: view.id,
    context_id: view.contextId,
    branch: view.branch,
    seq: view.seq,
    turn: view.turn,
    role: view.role,
    type: view.type,
    status: view.status,
    retraction: view.retraction === null ? null : toRetraction(view.retraction),
    steered: view.steered,
    compacted: view.compacted,
    content: view.content.map(toBlock),
    job_id: view.jobId,
    sender_worker_id: view.senderWorkerId,
    created_at: toIso(view.createdAt),
    completed_at: toIsoOrNull(view.completedAt),
    model_id: view.model?.modelId ?? null,
    provider_id: view.model?.providerId ?? null,
    usage: view.model === null ? null : toPublicUsage(view.model.usage),
    finish_reason: view.model?.finishReason ?? null,
    error: null,
  };
}

function toRetraction({ cause, at, by }: Retraction): Message['retraction'] {
  return { cause, at: toIso(at), by: by === null ? null : toPublicActor(by) };
}

function toBlock(block: Block): ContentBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'thinking':
      return { type: 'thinking', text: block.text };
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.input };
    case 'tool_result':
      return { ...block, content: typeof block.content === 'string' ? block.content : block.content.map(toPart) };
    case 'image':
    case 'document':
      return block;
  }
}

function toPart(part: ResultPart) {
  return part.type === 'text' ? { type: part.type, text: part.text } : part;
}
