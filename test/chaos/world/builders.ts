// Builders of a small world: for tests of checks.
import type { Block } from '../../../src/core/conversation/blocks.ts';
import type { ToolCallId } from '../../../src/core/ids.ts';
import type { StoredBranch, StoredEvent, StoredJob, StoredMessage } from './stored.ts';
import type { Posted, ReturnedBranch } from './world.ts';

export function posted(tag: string, jobId: string, messageId: string, after: number): Posted {
  return {
    origin: 'client',
    tag,
    key: `key-${tag}`,
    contextId: 'c',
    isForNewWorker: false,
    delivery: 'queue',
    priority: 5,
    branch: null,
    revision: null,
    delay: null,
    webhook: null,
    script: {
      shape: 'once',
      text: '',
      plays: [
        { calls: ['mail'], last: false },
        { calls: [], last: true },
      ],
      ends: ['completed'],
      maxSteps: null,
      deadlineMs: null,
      children: [],
    },
    firstSentAt: after * 10,
    outcome: { kind: 'accepted', at: after * 10 + 5, jobId, messageId, after, branch: null },
    cancelled: false,
    edited: null,
    withdrawn: null,
    reordered: false,
  };
}

export function storedJob(id: string, messageId: string, position: number, more: Partial<StoredJob>): StoredJob {
  return {
    id,
    context_id: 'c',
    kind: 'input',
    branch: 'main',
    status: 'queued',
    priority: 5,
    position,
    message_id: messageId,
    steps: 0,
    input_tokens: 0,
    output_tokens: 0,
    output_message_id: null,
    error_code: null,
    stop_kind: null,
    stop_mode: null,
    stop_reason: null,
    stop_requested_at: null,
    stop_delivered_at: null,
    stopped_at: null,
    starts_at: null,
    started_at: null,
    finished_at: null,
    parent_job_id: null,
    parent_tool_call_id: null,
    parent_notice: null,
    cascade: null,
    notice_of_job_id: null,
    created_at: 0,
    ...more,
  };
}

export function message(
  id: string,
  seq: number | null,
  role: StoredMessage['role'],
  content: Block[],
  turn: string | null,
): StoredMessage {
  const tokens =
    role === 'assistant' ? { input_tokens: 10, output_tokens: 2 } : { input_tokens: null, output_tokens: null };
  return {
    id,
    context_id: 'c',
    branch: 'main',
    seq,
    role,
    type: 'text',
    turn,
    status: 'completed',
    content,
    bytes: 10,
    job_id: 'job-1',
    completed_at: 30,
    attempt: role === 'assistant' ? 2 : null,
    model_id: role === 'assistant' ? 'chaos' : null,
    ...tokens,
  };
}

export function event(seq: number, name: string, data: Record<string, unknown>): StoredEvent {
  return { context_id: 'c', seq, name, data };
}

export function text(plain: string): Block {
  return { type: 'text', text: plain };
}

export function toolResult(content: string, isError: boolean, callId = 'call'): Block {
  return { type: 'tool_result', tool_use_id: callId as ToolCallId, content, is_error: isError };
}

/** A branch as the API returns it, equal to the stored one. */
export function returnedBranch(
  branch: StoredBranch,
  messages: readonly StoredMessage[],
  active: boolean,
): ReturnedBranch {
  return {
    name: branch.name,
    active,
    length: messages.length,
    messageCount: branch.message_count,
    requestCount: branch.request_count,
    inputTokens: branch.input_tokens,
    outputTokens: branch.output_tokens,
    messages: messages.map(({ id, seq, role, turn, content }) => ({ id, seq, role, turn, content })),
  };
}
