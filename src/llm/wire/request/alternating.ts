/**
 * Keeps roles alternating for one provider: an answer of which nothing is sent is dropped, and the user messages
 * around it are merged. Tool calls are never dropped, because they are always sent.
 */
import type { AssistantBlock, PromptMessage } from '../../../core/conversation/prompt.ts';

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
