/** The rows of messages that a run reads. */
import { sql, type SQL } from 'drizzle-orm';
import type { Block } from '../../core/conversation/blocks.ts';
import type { Message, MessageRole, MessageType } from '../../core/conversation/message.ts';
import type { Turn } from '../../core/conversation/turn.ts';
import type { JobId, MessageId } from '../../core/ids.ts';
import { toModelMeta, type ModelColumns } from '../model-calls/model-meta.ts';
import { usageColumns } from '../model-calls/usage.ts';

export type MessageRow = ModelColumns & {
  id: MessageId;
  seq: number;
  role: MessageRole;
  type: MessageType;
  turn: Turn;
  content: Block[];
  job_id: JobId | null;
};

/** The content is empty if it was not read. */
export function toMessage(row: Omit<MessageRow, 'content'> & { content: Block[] | null }): Message {
  const { id, seq, role, type, turn, content, job_id: jobId } = row;
  return { id, seq, role, type, turn, content: content ?? [], jobId, model: toModelMeta(row) };
}

/** `content`: the expression for the content. */
export function columnsWith(content: SQL): SQL {
  return sql`m.id, m.seq, m.role, m.type, m.turn, ${content} as content, m.job_id, m.model_id, m.provider_id,
  m.finish_reason, ${usageColumns('m')}`;
}

export const messageColumns: SQL = columnsWith(sql`m.content`);
