/**
 * The tool calls of messages. Lists of messages bring them along; from there they go to the cache of single calls, which
 * the cards read. Answers to requests that overlap may arrive in any order: of two, the one that was requested later is
 * kept, because it contains what events had told before.
 */
import { queryOptions, type QueryClient } from '@tanstack/react-query';
import type { Json, Message, ToolCall, ToolProgress } from 'nightshift/client';
import { client } from '../client.ts';
import { keys } from '../query/keys.ts';
import { isCall } from './message-window.ts';

type Reported = { context_id: string; tool_call_id: string; progress: ToolProgress };

/** `askedAt`: when it was requested, in milliseconds since 1970. */
type ReadCall = { call: ToolCall; askedAt: number };

export function toolCallQuery(contextId: string, callId: string) {
  const queryKey = keys.toolCall(contextId, callId);
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client: cache }): Promise<ReadCall> => {
      const askedAt = Date.now();
      const call = await client.tools.get(contextId, callId, { signal });
      return later(cache.getQueryData<ReadCall>(queryKey), { call, askedAt });
    },
    select: ({ call }) => call,
  });
}

/** `askedAt`: when the messages were requested. */
export function keepCalls(cache: QueryClient, messages: readonly Message[], askedAt: number): void {
  for (const { tool_calls = [], content, context_id } of messages) {
    const inputs = new Map<string, Json>(content.filter(isCall).map(({ id, input }) => [id, input]));
    for (const call of tool_calls) {
      const input = inputs.get(call.id) ?? null;
      const read = { call: { ...call, input, run_input: call.approval?.input ?? input }, askedAt };
      cache.setQueryData<ReadCall>(keys.toolCall(context_id, call.id), (known) => {
        const kept = later(known, read);
        // Undefined: the cache stays as it is.
        return kept === known ? undefined : kept;
      });
    }
  }
}

/** The event has all of it: nothing is read. */
export function keepProgress(cache: QueryClient, { context_id, tool_call_id, progress }: Reported): void {
  cache.setQueryData<ReadCall>(
    keys.toolCall(context_id, tool_call_id),
    (known) => known && { ...known, call: { ...known.call, progress } },
  );
}

function later(known: ReadCall | undefined, read: ReadCall): ReadCall {
  return known !== undefined && known.askedAt > read.askedAt ? known : read;
}
