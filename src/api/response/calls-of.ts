/** The tool calls of messages, for responses that show both: one query, however many calls there are. */
import type { ContextId, MessageId, TenantId } from '../../core/ids.ts';
import type { Executor } from '../../db/connection/client.ts';
import { findToolCalls } from '../../db/read/jobs/tool-call-views.ts';
import type { MessageView } from '../../db/read/messages/message-views.ts';
import type { MessageToolCall } from '../schemas/jobs/tool-call.ts';
import { toMessageToolCall } from '../wire/tool-call.ts';

/** By message, in the order in which the message requests them. Messages without calls are left out. */
export async function callsOf(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  messages: readonly MessageView[],
): Promise<Map<MessageId, MessageToolCall[]>> {
  const requested = messages.flatMap(({ id, content }) =>
    content.flatMap((block) => (block.type === 'tool_use' ? [{ messageId: id, callId: block.id }] : [])),
  );
  const callIds = requested.map(({ callId }) => callId);
  const found = callIds.length === 0 ? [] : await findToolCalls(executor, tenantId, contextId, callIds);
  const known = new Map(found.map((call) => [call.id, toMessageToolCall(call)]));
  const calls = new Map<MessageId, MessageToolCall[]>();
  for (const { messageId, callId } of requested) {
    const call = known.get(callId);
    if (call !== undefined) calls.set(messageId, [...(calls.get(messageId) ?? []), call]);
  }
  return calls;
}
