/**
 * Assembles the events of a Responses stream into the complete response. With most servers the last event contains
 * everything; some leave its `output` empty, so finished items are also collected as they arrive. Items are
 * identified by their index, because ids in events are unreliable: some proxies change them in every event.
 */
import type { JsonObject } from '../../core/json.ts';
import type { Assembly, Delta } from '../wire/wire.ts';
import { numberIn, objectIn, objectsIn, stringIn } from '../wire/answer/json.ts';

export function createAssembly(): Assembly {
  const items = new Map<number, JsonObject>();
  let response: JsonObject | null = null;

  function take(data: JsonObject): Delta[] {
    switch (stringIn(data, 'type')) {
      case 'response.output_item.done':
        items.set(numberIn(data, 'output_index') ?? items.size, objectIn(data, 'item'));
        return [];
      case 'response.output_text.delta':
        return [{ kind: 'text', delta: stringIn(data, 'delta') }];
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return [{ kind: 'thinking', delta: stringIn(data, 'delta') }];
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        response = objectIn(data, 'response');
        return [];
      default:
        return [];
    }
  }

  function whole(): JsonObject {
    const last = response ?? {};
    if (objectsIn(last, 'output').length >= items.size) return last;
    const output = [...items.entries()].sort(([a], [b]) => a - b).map(([, item]) => item);
    return { ...last, output };
  }

  return { take, takeEnd: () => {}, phase: () => (response === null ? 'open' : 'closed'), whole };
}
