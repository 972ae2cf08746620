/**
 * Converts prompt messages to a provider's format, each only once, because messages never change. The result depends
 * on the message and on the ids of its calls in requests, which the rest of the prompt may change: then it is
 * converted again.
 */
import type { ToolCallId } from '../../../core/ids.ts';
import type { PromptMessage } from '../../../core/conversation/prompt.ts';
import type { WireIds } from './call-ids.ts';

/** `write` is pure. Callers must not change the result. */
export function writtenOnce<Written>(
  write: (message: PromptMessage, nameOf: WireIds) => Written,
): (message: PromptMessage, nameOf: WireIds) => Written {
  const known = new WeakMap<PromptMessage, { named: [ToolCallId, string][]; written: Written }>();
  return (message, nameOf) => {
    const before = known.get(message);
    if (before?.named.every(([id, name]) => nameOf(id) === name)) return before.written;
    const named: [ToolCallId, string][] = [];
    const written = write(message, (id) => {
      const name = nameOf(id);
      named.push([id, name]);
      return name;
    });
    known.set(message, { named, written });
    return written;
  };
}
