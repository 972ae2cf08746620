/** Chat Completions of the fake provider: parses requests, creates the events of the response stream. */
import { markIn, type ParsedRequest, type Reply } from './script.ts';

export const FORMAT = 'chat';

type ChatMessage = { role: string; content?: unknown };

export function parseRequest(body: { messages: ChatMessage[] }): ParsedRequest {
  const { messages } = body;
  const input = messages.findLastIndex(({ role }) => role === 'user');
  const results = messages.slice(input + 1).filter(({ role }) => role === 'tool').length;
  return { mark: markIn(String(messages[input]?.content)), results, prompt: messages.length };
}

export function eventsOf(reply: Reply, prompt: number): string[] {
  const choices =
    reply.kind === 'text'
      ? reply.words.map((content) => ({ content }))
      : [
          {
            tool_calls: [{ index: 0, id: reply.id, type: 'function', function: { name: 'look', arguments: '' } }],
          },
          ...halves(reply.input).map((part) => ({
            tool_calls: [{ index: 0, function: { arguments: part } }],
          })),
        ];
  const usage = { prompt_tokens: prompt, completion_tokens: choices.length, total_tokens: 0 };
  return [
    chunk({ role: 'assistant', content: '' }, null),
    ...choices.map((delta) => chunk(delta, null)),
    chunk({}, reply.kind === 'text' ? 'stop' : 'tool_calls'),
    event({ ...HEAD, choices: [], usage }),
    'data: [DONE]\n\n',
  ];
}

const HEAD = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'bench' };

function chunk(delta: object, finish: string | null): string {
  return event({ ...HEAD, choices: [{ index: 0, delta, finish_reason: finish }], usage: null });
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function halves(text: string): string[] {
  const middle = text.length >> 1;
  return [text.slice(0, middle), text.slice(middle)];
}
