/**
 * The id of a tool call in requests. Our ids are UUIDs, which every provider accepts. A provider's own id for a call
 * is sent back unchanged, so that cached prompts stay the same, unless it is invalid or already used: some servers
 * name every first call `call_0`. A result has the same id as its call.
 */
import type { PromptMessage } from '../../../core/conversation/prompt.ts';
import type { ToolCallId } from '../../../core/ids.ts';
import { isToolUse, type ToolUseBlock } from '../../../core/conversation/blocks.ts';

export type WireIds = (id: ToolCallId) => string;

/** `theirs`: the provider's own id of a call; empty if the call is from another provider. */
export function wireIds(
  messages: readonly PromptMessage[],
  allowed: RegExp,
  theirs: (call: ToolUseBlock) => string,
): WireIds {
  const names = new Map<ToolCallId, string>();
  const taken = new Set<string>();
  const name = (call: ToolUseBlock): void => {
    const own = theirs(call);
    const chosen = allowed.test(own) && !taken.has(own) ? own : free(call.id, taken);
    taken.add(chosen);
    names.set(call.id, chosen);
  };
  for (const { content } of messages) for (const block of content) if (isToolUse(block)) name(block);
  return (id) => names.get(id) ?? id;
}

function free(id: string, taken: ReadonlySet<string>): string {
  let name = id;
  for (let count = 2; taken.has(name); count++) name = `${id}-${count}`;
  return name;
}
