/**
 * What is left of a prompt for one provider still alternates: an answer of which nothing is sent goes, and the users'
 * messages around it become one. No tool call is ever lost that way: calls are always sent.
 */
import type { AssistantBlock, PromptMessage } from '../../core/prompt.ts';

export function alternating(
  prompt: readonly PromptMessage[],
  isUnsaid: (block: AssistantBlock) => boolean,
): PromptMessage[] {
  const kept: PromptMessage[] = [];
  for (const message of prompt) {
    if (message.role === 'assistant' && message.content.every(isUnsaid)) continue;
    const last = kept.at(-1);
    if (last?.role === 'user' && message.role === 'user') {
      kept.splice(-1, 1, { role: 'user', content: [...last.content, ...message.content] });
    } else kept.push(message);
  }
  return kept;
}
