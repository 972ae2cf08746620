/** A fake answer in the Chat Completions format. */
import type { JsonObject } from '../../../src/core/json.ts';
import { event, inDeltas, type Rendered, type Spoken } from './reply.ts';

const FINISH_REASONS = { stop: 'stop', tool_use: 'tool_calls', max_tokens: 'length', refusal: 'stop' };

/** The usage event is part of the stream only on request, as with the real one. */
export function renderChat(spoken: Spoken, options: { includeUsage: boolean }): Rendered {
  const head = { id: spoken.id, created: 0, model: spoken.model };
  const finish = FINISH_REASONS[spoken.finish];
  const chunk = (choices: JsonObject[], usage: JsonObject | null): string =>
    event({ ...head, object: 'chat.completion.chunk', choices, usage });
  const events = [
    chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }], null),
    ...deltasOf(spoken).map((delta) => chunk([{ index: 0, delta, finish_reason: null }], null)),
    chunk([{ index: 0, delta: {}, finish_reason: finish }], null),
    ...(options.includeUsage ? [chunk([], usageOf(spoken))] : []),
    'data: [DONE]\n\n',
  ];
  return {
    events,
    firstDelta: 1,
    whole: {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message: messageOf(spoken), finish_reason: finish }],
      usage: usageOf(spoken),
    },
  };
}

function deltasOf(spoken: Spoken): JsonObject[] {
  return [
    ...inDeltas(spoken.thinking).map((reasoning_content) => ({ reasoning_content })),
    ...spoken.text.map((content) => ({ content })),
    ...inDeltas(spoken.refusal ?? '').map((refusal) => ({ refusal })),
    ...spoken.calls.flatMap((call, index) => [
      {
        tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }],
      },
      ...inDeltas(call.arguments).map((part) => ({ tool_calls: [{ index, function: { arguments: part } }] })),
    ]),
  ];
}

function messageOf(spoken: Spoken): JsonObject {
  const calls = spoken.calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  return {
    role: 'assistant',
    content: spoken.text.length === 0 ? null : spoken.text.join(''),
    refusal: spoken.refusal,
    ...(spoken.thinking === '' ? {} : { reasoning_content: spoken.thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function usageOf({ usage }: Spoken): JsonObject {
  const prompt = usage.input + usage.cacheRead;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
  };
}
