/** Applies a stream event to the query cache: patches it if the event has all data, else refetches. */
import type { QueryClient } from '@tanstack/react-query';
import type { Context, StreamEvent } from 'nightshift/client';
import { refetch } from './refetch.ts';
import { keys } from '../query/keys.ts';
import { arrivalsOf } from './arrivals.ts';
import { keepStepProgress } from './job-steps.ts';
import { keepProgress } from './tool-calls.ts';

/** Resolves when the patches are applied. */
export async function takeEffect(cache: QueryClient, { event, data }: StreamEvent): Promise<void> {
  const id = data.context_id;
  const stale = (...keyed: readonly (readonly unknown[])[]): void => {
    for (const queryKey of keyed) void refetch(cache, queryKey);
  };
  switch (event) {
    case 'ContentDelta':
    case 'ContentSnapshot':
    case 'ThinkingDelta':
      return;
    case 'StateChanged':
      cache.setQueryData<Context>(
        keys.contextRecord(id),
        (context) => context && { ...context, state: data.new_state },
      );
      return stale(keys.contextState(id));
    case 'MessageCompleted':
      await arrivalsOf(cache, id).message({ id: data.message_id, seq: data.seq });
      return data.role === 'user' ? stale(keys.turns(id), keys.queues(id)) : stale(keys.turns(id));
    case 'MessageIncomplete':
      return arrivalsOf(cache, id).message({ id: data.message_id, seq: data.seq });
    case 'MessagesRetracted':
      return stale(keys.messages(id), keys.queues(id), keys.turns(id), keys.contextRecord(id));
    case 'ToolCallProgress':
      keepProgress(cache, data);
      return keepStepProgress(cache, data);
    case 'ToolCallStarted':
    case 'ToolCallFinished':
      return arrivalsOf(cache, id).call(data.tool_call_id);
    case 'WorkerSpawned':
      return arrivalsOf(cache, id).call(data.tool_call_id, true);
    case 'ApprovalRequested':
    case 'ApprovalResolved':
    case 'InputRequested':
    case 'OutcomeUnknown':
    case 'OutcomeResolved':
      arrivalsOf(cache, id).call(data.tool_call_id);
      return stale(keys.approvals, keys.contextState(id));
    case 'JobStarted':
      return stale(keys.job(data.job_id), keys.queues(id), keys.refresh(keys.contexts));
    case 'JobFinished':
      return stale(
        keys.job(data.job_id),
        keys.contextRecord(id),
        keys.refresh(keys.contexts),
        keys.branches(id),
        keys.queues(id),
      );
    case 'BranchCreated':
    case 'BranchDeleted':
    case 'BranchSwitched':
    case 'ContextCleared':
    case 'ContextCompacted':
    case 'ContextImported':
      return stale(keys.context(id));
  }
}
