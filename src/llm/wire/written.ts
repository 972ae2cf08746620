/**
 * Messages of a prompt in a provider's words, each written once: messages never change. What is written depends on the
 * message and on what its calls are called on the wire, which the rest of the prompt may change: then it is written anew.
 */
import type { ToolCallId } from '../../core/ids.ts';
import type { PromptMessage } from '../../core/prompt.ts';
import type { WireIds } from './call-ids.ts';

/** `write` is pure. Nobody may change what comes back. */
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
