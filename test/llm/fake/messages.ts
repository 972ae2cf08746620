/** A fake answer in Anthropic's Messages format. */
import type { JsonObject } from '../../../src/core/json.ts';
import { event, inDeltas, type Rendered, type Spoken } from './reply.ts';

const STOP_REASONS = { stop: 'end_turn', tool_use: 'tool_use', max_tokens: 'max_tokens', refusal: 'refusal' };

export function renderMessages(spoken: Spoken): Rendered {
  const blocks = blocksOf(spoken);
  const ending = {
    stop_reason: STOP_REASONS[spoken.finish],
    stop_sequence: null,
    stop_details: spoken.refusal === null ? null : { type: 'refusal', explanation: spoken.refusal },
  };
  const head = { id: spoken.id, type: 'message', role: 'assistant', model: spoken.model };
  const usage = {
    input_tokens: spoken.usage.input,
    output_tokens: spoken.usage.output,
    cache_read_input_tokens: spoken.usage.cacheRead,
    cache_creation_input_tokens: spoken.usage.cacheWrite,
  };
  const start = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  const events = [
    named({ type: 'message_start', message: start }),
    named({ type: 'ping' }),
    ...blocks.flatMap((block, index) => [
      named({ type: 'content_block_start', index, content_block: block.opened }),
      ...block.deltas.map((delta) => named({ type: 'content_block_delta', index, delta })),
      named({ type: 'content_block_stop', index }),
    ]),
    named({ type: 'message_delta', delta: ending, usage }),
    named({ type: 'message_stop' }),
  ];
  const firstDelta = events.findIndex((text) => text.includes('"content_block_delta"'));
  return {
    events,
    firstDelta: firstDelta < 0 ? 1 : firstDelta,
    whole: { ...head, ...ending, usage, content: blocks.map((block) => block.whole) },
  };
}

type BlockRendering = { opened: JsonObject; deltas: JsonObject[]; whole: JsonObject };

function blocksOf(spoken: Spoken): BlockRendering[] {
  const blocks: BlockRendering[] = [];
  if (spoken.thinking !== '') blocks.push(thinkingBlock(spoken));
  if (spoken.text.length > 0) blocks.push(textBlock(spoken.text));
  return [...blocks, ...spoken.calls.map(callBlock)];
}

function thinkingBlock({ thinking, id }: Spoken): BlockRendering {
  const signature = `signature-of-${id}`;
  return {
    opened: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...inDeltas(thinking).map((delta) => ({ type: 'thinking_delta', thinking: delta })),
      { type: 'signature_delta', signature },
    ],
    whole: { type: 'thinking', thinking, signature },
  };
}

function textBlock(text: readonly string[]): BlockRendering {
  return {
    opened: { type: 'text', text: '' },
    deltas: text.map((delta) => ({ type: 'text_delta', text: delta })),
    whole: { type: 'text', text: text.join('') },
  };
}

function callBlock(call: Spoken['calls'][number]): BlockRendering {
  const opened = { type: 'tool_use', id: call.id, name: call.name, input: {} };
  return {
    opened,
    deltas: inDeltas(call.arguments).map((delta) => ({ type: 'input_json_delta', partial_json: delta })),
    whole: { ...opened, input: parsed(call.arguments) },
  };
}

/** A whole message can only contain an object: other JSON becomes a string there. */
function parsed(text: string): JsonObject | string {
  try {
    return text === '' ? {} : (JSON.parse(text) as JsonObject);
  } catch {
    return text;
  }
}

function named(data: JsonObject & { type: string }): string {
  return event(data, data.type);
}
