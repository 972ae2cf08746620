/** Answers to what a call waits for: asked anew afterwards is the call, the state, and what else waits for a person. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { NightshiftError } from 'nightshift/client';
import type { ToolCall } from 'nightshift/client';
import { keys } from '../data/keys.ts';
import { tell, tellError } from '../ui/toaster.tsx';

const answeredHere = new Set<string>();

/** In this window, and not by somebody else. */
export function wasAnsweredHere(callId: string): boolean {
  return answeredHere.has(callId);
}

/** `did`: what failed, in words. */
export function useAnswer<Given>(
  { context_id: contextId, id: callId }: Pick<ToolCall, 'context_id' | 'id'>,
  send: (given: Given) => Promise<unknown>,
  did: string,
) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: send,
    onMutate: () => void answeredHere.add(callId),
    // A verdict that is remembered is one on other calls, too.
    onSuccess: (answer) => {
      for (const id of resolvedBy(answer)) answeredHere.add(id);
    },
    onError: (error) => {
      answeredHere.delete(callId);
      if (error instanceof NightshiftError && error.code === 'not_waiting')
        tell('Somebody was faster, or it is over.');
      else tellError(did, error);
    },
    onSettled: () =>
      Promise.all(
        [keys.toolCall(contextId, callId), keys.contextState(contextId), keys.approvals].map((queryKey) =>
          cache.invalidateQueries({ queryKey }),
        ),
      ),
  });
}

function resolvedBy(answer: unknown): string[] {
  if (typeof answer !== 'object' || answer === null || !('resolved' in answer)) return [];
  return Array.isArray(answer.resolved) ? answer.resolved.filter((id) => typeof id === 'string') : [];
}
