// A prompt as each provider would receive it.
import type { PromptMessage } from '../../../src/core/conversation/prompt.ts';
import { expectChat, expectMessages, expectResponses } from '../../llm/valid-requests.ts';

const WIRES = { Messages: expectMessages, 'Chat Completions': expectChat, Responses: expectResponses };

export function wireFaults(prompt: PromptMessage[]): string[] {
  return Object.entries(WIRES).flatMap(([name, expectValid]) => {
    try {
      expectValid(prompt);
      return [];
    } catch (error) {
      return [`no valid request of ${name}: ${error instanceof Error ? error.message : 'no error'}`];
    }
  });
}
