/** The tool call of a step, with its result. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { NightshiftError, type JobStep, type ToolCall, type ToolResultBlock } from 'nightshift/client';
import { client } from '../client.ts';
import { keys } from '../query/keys.ts';

/** `call` null: the answer with the call is not stored yet. `result` null: there is none yet. */
export type StepCall = { call: ToolCall; result: ToolResultBlock | null } | { call: null };

/** Read once for each state of the step, and not with each event of its job. */
export function stepCallQuery(contextId: string, callId: string, step: JobStep) {
  return queryOptions({
    queryKey: keys.stepCall(callId, `${step.status} ${step.ended_at ?? ''} ${step.waits?.length ?? 0}`),
    queryFn: ({ signal }) => readCall(contextId, callId, signal),
    staleTime: ({ state: { data } }) => (data?.call === null ? 0 : Infinity),
    placeholderData: keepPreviousData,
  });
}

async function readCall(contextId: string, callId: string, signal: AbortSignal): Promise<StepCall> {
  const call = await client.tools.get(contextId, callId, { signal }).catch((error: unknown) => {
    if (error instanceof NightshiftError && error.code === 'not_found') return null;
    throw error;
  });
  if (call === null) return { call };
  if (call.result_message_id === null) return { call, result: null };
  const { content } = await client.contexts.messages.get(contextId, call.result_message_id, { signal });
  const isResult = (block: (typeof content)[number]): block is ToolResultBlock =>
    block.type === 'tool_result' && block.tool_use_id === call.id;
  return { call, result: content.find(isResult) ?? null };
}
