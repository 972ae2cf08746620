/**
 * The tool calls of messages. Lists of messages bring them along; from there they go to the cache of single calls, which
 * the cards read. No card requests its own call.
 */
import type { QueryClient } from '@tanstack/react-query';
import type { Json, Message, ToolCall } from 'nightshift/client';
import { keys } from '../query/keys.ts';
import { isCall } from './message-window.ts';

/** `askedAt`: when the messages were requested. Calls that were read since then are kept. */
export function keepCalls(cache: QueryClient, messages: readonly Message[], askedAt: number): void {
  for (const { tool_calls = [], content, context_id } of messages) {
    const inputs = new Map<string, Json>(content.filter(isCall).map(({ id, input }) => [id, input]));
    for (const call of tool_calls) {
      const key = keys.toolCall(context_id, call.id);
      if ((cache.getQueryState(key)?.dataUpdatedAt ?? 0) > askedAt) continue;
      const input = inputs.get(call.id) ?? null;
      cache.setQueryData<ToolCall>(key, { ...call, input, run_input: call.approval?.input ?? input });
    }
  }
}
