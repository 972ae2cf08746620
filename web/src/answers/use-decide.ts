/** Sends the decision of a form, then refetches what it affects, and reports a failure. */
import { useQueryClient } from '@tanstack/react-query';
import { NightshiftError, type ToolCall } from 'nightshift/client';
import { decide, type Wait } from '../data/query/decisions.ts';
import { keys } from '../data/query/keys.ts';
import { approvalsQuery } from '../data/query/system.ts';
import { showNotice, showError } from '../ui/layout/toaster.tsx';
import { answerWords } from '../words.ts';

type Decide = (label: string, send: () => Promise<unknown>) => void;

export function waitOf({ id, waits_since }: Pick<ToolCall, 'id' | 'waits_since'>): Wait {
  return { callId: id, since: waits_since };
}

/** `failed`: title of the error toast. */
export function useDecide(call: ToolCall, failed: string): Decide {
  const cache = useQueryClient();
  const stale = [keys.toolCall(call.context_id, call.id), keys.contextState(call.context_id), keys.approvals];
  return (label, send) =>
    decide(waitOf(call), {
      label,
      labelOfOthers: answerWords.decidedTogether,
      send: async () => {
        const decided = decidedBy(await send());
        const waiting = cache.getQueryData(approvalsQuery().queryKey)?.data ?? [];
        return waiting
          .filter(({ tool_call_id: id }) => id !== call.id && decided.includes(id))
          .map((item) => ({ callId: item.tool_call_id, since: item.requested_at }));
      },
      onError: (error) => {
        if (error instanceof NightshiftError && error.code === 'not_waiting') showNotice(answerWords.notWaiting);
        else showError(failed, error);
      },
      onSettled: () => {
        for (const queryKey of stale) void cache.invalidateQueries({ queryKey });
      },
    });
}

/** Ids of all calls that the request decided: a remembered decision also applies to other waiting calls. */
function decidedBy(answer: unknown): string[] {
  if (typeof answer !== 'object' || answer === null || !('resolved' in answer)) return [];
  return Array.isArray(answer.resolved) ? answer.resolved.filter((id) => typeof id === 'string') : [];
}
