/** The agent loop over the Messages API. Each message is stored before the next step. */
import type Anthropic from '@anthropic-ai/sdk';
import { LOOK, SYSTEM_PROMPT, look } from '../tool.ts';
import type { Store } from './store.ts';

type Message = Anthropic.MessageParam;

const TOOLS: Anthropic.Tool[] = [
  {
    name: LOOK.name,
    description: LOOK.description,
    input_schema: { ...LOOK.parameters, type: 'object' },
  },
];

export async function runAnthropic(client: Anthropic, store: Store, contextId: string): Promise<void> {
  const history = await store.history<Message>(contextId);
  for (;;) {
    const { content, usage } = await client.messages
      .stream({ model: 'bench', max_tokens: 4096, system: SYSTEM_PROMPT, messages: history, tools: TOOLS })
      .finalMessage();
    const message: Message = { role: 'assistant', content };
    history.push(message);
    await store.add(contextId, message, { input: usage.input_tokens, output: usage.output_tokens });
    const calls = content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return;
    const results: Message = {
      role: 'user',
      content: calls.map(({ id, input }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: look(input),
      })),
    };
    history.push(results);
    await store.add(contextId, results);
  }
}
