/**
 * Converts prompt messages to a provider's format, each only once, because messages never change. The result depends
 * on the message and on the ids of its calls in requests, which the rest of the prompt may change: then it is
 * converted again.
 */
import type { ToolCallId } from '../../../core/ids.ts';
import type { AssistantBlock, PromptMessage, UserBlock } from '../../../core/conversation/prompt.ts';
import type { WireIds } from './call-ids.ts';

type Writers<Written> = {
  user(content: readonly UserBlock[], nameOf: WireIds): Written;
  assistant(content: readonly AssistantBlock[], nameOf: WireIds): Written;
};

/** The writers are pure. Callers must not change the result. */
export function writtenOnce<Written>(writers: Writers<Written>): (message: PromptMessage, nameOf: WireIds) => Written {
  const write = (message: PromptMessage, nameOf: WireIds): Written =>
    message.role === 'user' ? writers.user(message.content, nameOf) : writers.assistant(message.content, nameOf);
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
