/** Calls that an append both requests and closes: they are stored with their results, and have no rows of their own. */
import { resultOf, type MessageId } from '../../../core/ids.ts';
import { memoize } from '../../../core/memoize.ts';
import type { Append, CallChange } from '../../../core/run/append.ts';
import type { ToolCall } from '../../../core/tools/tool-call.ts';
import { plainText } from '../../connection/codec.ts';
import type { EndedCall } from '../../schema/calls.ts';

/** By the message of the result. Several parts of a statement use it, so it is computed once for each append. */
export const endedCalls = memoize(({ calls, lease: { epoch } }: Append): ReadonlyMap<MessageId, EndedCall> => {
  const requested = new Map(
    calls.flatMap((change) =>
      change.kind === 'request' && change.wait === null ? [[change.call.id, change.call]] : [],
    ),
  );
  return new Map(
    calls.flatMap((change) => {
      const call = change.kind === 'close' ? requested.get(change.id) : undefined;
      return change.kind === 'close' && call !== undefined ? [[resultOf(call.id), toEnded(call, change, epoch)]] : [];
    }),
  );
});

/** What happens to calls that have rows of their own. */
export const storedChanges = memoize((append: Append): CallChange[] => {
  const ended = endedCalls(append);
  return append.calls.filter((change) => !ended.has(resultOf(change.kind === 'request' ? change.call.id : change.id)));
});

type Close = Extract<CallChange, { kind: 'close' }>;

function toEnded(call: ToolCall, { status, execution }: Close, epoch: number): EndedCall {
  const { messageId: message_id, ordinal, name, effect, onUnknown: on_unknown } = call;
  return {
    message_id,
    ordinal,
    name: plainText(name),
    effect,
    on_unknown,
    status,
    execution:
      execution === null || execution.beganAt === null
        ? null
        : { epoch, began_at: execution.beganAt, outcome: execution.outcome },
  };
}
