/** The agent loop over Chat Completions. Each message is stored before the next step. */
import type OpenAI from 'openai';
import { LOOK, SYSTEM_PROMPT, look } from '../tool.ts';
import type { Store, Usage } from './store.ts';

type Message = OpenAI.Chat.ChatCompletionMessageParam;
type Call = { id: string; type: 'function'; function: { name: string; arguments: string } };

export type ChatRequest = OpenAI.Chat.ChatCompletionCreateParamsStreaming;
export type Chunk = OpenAI.Chat.ChatCompletionChunk;

/** Sends a request and returns the chunks of its response. */
export type AskChat = (request: ChatRequest) => AsyncIterable<Chunk> | Promise<AsyncIterable<Chunk>>;

const TOOLS = [{ type: 'function' as const, function: LOOK }];

export async function runChat(ask: AskChat, store: Store, contextId: string): Promise<void> {
  const history = await store.history<Message>(contextId);
  for (;;) {
    const { message, usage } = await answerOf(ask, history);
    history.push(message);
    await store.add(contextId, message, usage);
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) return;
    for (const call of calls) {
      const content = look(JSON.parse(call.function.arguments));
      const result: Message = { role: 'tool', tool_call_id: call.id, content };
      history.push(result);
      await store.add(contextId, result);
    }
  }
}

async function answerOf(ask: AskChat, history: Message[]) {
  const stream = await ask({
    model: 'bench',
    messages: [{ role: 'system', content: SYSTEM_PROMPT }, ...history],
    tools: TOOLS,
    stream: true,
    stream_options: { include_usage: true },
  });
  let content = '';
  const calls: Call[] = [];
  let usage: Usage = { input: 0, output: 0 };
  for await (const chunk of stream) {
    if (chunk.usage) usage = { input: chunk.usage.prompt_tokens, output: chunk.usage.completion_tokens };
    const delta = chunk.choices[0]?.delta;
    if (delta?.content) content += delta.content;
    for (const part of delta?.tool_calls ?? []) {
      const call = (calls[part.index] ??= {
        id: part.id ?? '',
        type: 'function',
        function: { name: part.function?.name ?? '', arguments: '' },
      });
      call.function.arguments += part.function?.arguments ?? '';
    }
  }
  const message: OpenAI.Chat.ChatCompletionAssistantMessageParam & { tool_calls?: Call[] } =
    calls.length === 0
      ? { role: 'assistant', content }
      : { role: 'assistant', content: content || null, tool_calls: calls };
  return { message, usage };
}
