/** A fake answer in OpenAI's Responses format. */
import type { JsonObject } from '../../../src/core/json.ts';
import { event, inDeltas, type Rendered, type Spoken } from './reply.ts';

export function renderResponses(spoken: Spoken): Rendered {
  const items = itemsOf(spoken);
  const head = { id: spoken.id, object: 'response', created_at: 0, model: spoken.model, error: null };
  const cut = spoken.finish === 'max_tokens';
  const whole = {
    ...head,
    status: cut ? 'incomplete' : 'completed',
    incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
    output: items.map((item) => item.whole),
    usage: usageOf(spoken),
  };
  const begun = { ...head, status: 'in_progress', incomplete_details: null, output: [], usage: null };
  let sequence = 0;
  const named = (data: JsonObject & { type: string }): string =>
    event({ ...data, sequence_number: sequence++ }, data.type);
  const events = [
    named({ type: 'response.created', response: begun }),
    named({ type: 'response.in_progress', response: begun }),
    ...items.flatMap((item, output_index) => [
      named({ type: 'response.output_item.added', output_index, item: item.opened }),
      ...item.deltas.map((delta) => named({ ...delta, item_id: item.id, output_index })),
      named({ type: 'response.output_item.done', output_index, item: item.whole }),
    ]),
    named({ type: cut ? 'response.incomplete' : 'response.completed', response: whole }),
  ];
  const firstDelta = events.findIndex((text) => text.includes('.delta"'));
  return { events, firstDelta: firstDelta < 0 ? 1 : firstDelta, whole };
}

type Delta = JsonObject & { type: string };
type ItemRendering = { id: string; opened: JsonObject; deltas: Delta[]; whole: JsonObject };

function itemsOf(spoken: Spoken): ItemRendering[] {
  const items: ItemRendering[] = [];
  if (spoken.thinking !== '') items.push(reasoningItem(spoken));
  if (spoken.text.length > 0) items.push(textItem(spoken));
  if (spoken.refusal !== null) items.push(refusalItem(spoken.id, spoken.refusal));
  return [...items, ...spoken.calls.map((call, place) => callItem(`fc_${spoken.id}_${place}`, call))];
}

function reasoningItem(spoken: Spoken): ItemRendering {
  const id = `rs_${spoken.id}`;
  const item = { id, type: 'reasoning', encrypted_content: `sealed-${spoken.id}` };
  return {
    id,
    opened: { ...item, summary: [] },
    deltas: inDeltas(spoken.thinking).map((delta) => ({
      type: 'response.reasoning_summary_text.delta',
      summary_index: 0,
      delta,
    })),
    whole: { ...item, summary: [{ type: 'summary_text', text: spoken.thinking }] },
  };
}

function textItem(spoken: Spoken): ItemRendering {
  const id = `msg_${spoken.id}`;
  const item = { id, type: 'message', role: 'assistant' };
  const text = spoken.text.join('');
  return {
    id,
    opened: { ...item, status: 'in_progress', content: [] },
    deltas: spoken.text.map((delta) => ({ type: 'response.output_text.delta', content_index: 0, delta })),
    whole: { ...item, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] },
  };
}

function refusalItem(responseId: string, refusal: string): ItemRendering {
  const id = `msg_refusal_${responseId}`;
  const item = { id, type: 'message', role: 'assistant' };
  return {
    id,
    opened: { ...item, status: 'in_progress', content: [] },
    deltas: inDeltas(refusal).map((delta) => ({ type: 'response.refusal.delta', content_index: 0, delta })),
    whole: { ...item, status: 'completed', content: [{ type: 'refusal', refusal }] },
  };
}

function callItem(id: string, call: Spoken['calls'][number]): ItemRendering {
  const item = { id, type: 'function_call', call_id: call.id, name: call.name };
  return {
    id,
    opened: { ...item, status: 'in_progress', arguments: '' },
    deltas: inDeltas(call.arguments).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      delta,
    })),
    whole: { ...item, status: 'completed', arguments: call.arguments },
  };
}

function usageOf({ usage }: Spoken): JsonObject {
  const input = usage.input + usage.cacheRead;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + usage.output,
  };
}
