/** The Messages API (Anthropic) of the fake provider: parses requests, creates the events of the response stream. */
import { markIn, type ParsedRequest, type Reply } from './script.ts';

export const FORMAT = 'messages';

type Block = { type: string; text?: string };
type Message = { role: string; content: string | Block[] };

export function parseRequest({ messages }: { messages: Message[] }): ParsedRequest {
  const input = messages.findLastIndex(({ content }) => textOf(content) !== '');
  const results = messages
    .slice(input)
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter(({ type }) => type === 'tool_result').length;
  return { mark: markIn(textOf(messages[input]?.content ?? '')), results, prompt: messages.length };
}

function textOf(content: string | Block[]): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('');
}

export function eventsOf(reply: Reply, prompt: number): string[] {
  const usage = { input_tokens: prompt, output_tokens: 1 };
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'bench', content: [] };
  const block =
    reply.kind === 'text' ? { type: 'text', text: '' } : { type: 'tool_use', id: reply.id, name: 'look', input: {} };
  const deltas =
    reply.kind === 'text'
      ? reply.words.map((text) => ({ type: 'text_delta', text }))
      : [{ type: 'input_json_delta', partial_json: reply.input }];
  const stop = reply.kind === 'text' ? 'end_turn' : 'tool_use';
  return [
    event('message_start', { message: { ...head, stop_reason: null, stop_sequence: null, usage } }),
    event('content_block_start', { index: 0, content_block: block }),
    ...deltas.map((delta) => event('content_block_delta', { index: 0, delta })),
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: deltas.length },
    }),
    event('message_stop', {}),
  ];
}

function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
