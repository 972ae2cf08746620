/**
 * Assembles the events of a Messages stream into the complete message. Blocks and deltas of unknown types are
 * assembled too, so that new provider types are sent back verbatim. A second `message_start` starts over: a proxy cut
 * off what came before. It may already contain blocks; calls made by a program of the model arrive this way.
 */
import type { Json, JsonObject } from '../../core/json.ts';
import { readArguments } from '../wire/request/arguments.ts';
import type { Assembly, Delta } from '../wire/wire.ts';
import { numberIn, objectIn, objectsIn, stringIn, without } from '../wire/answer/json.ts';

type OpenBlock = { block: JsonObject; json: string };

export function createAssembly(): Assembly {
  let message: JsonObject = { type: 'message', content: [] };
  let blocks = new Map<number, OpenBlock>();
  let stopped = false;

  function take(data: JsonObject): Delta[] {
    switch (stringIn(data, 'type')) {
      case 'message_start':
        message = { ...objectIn(data, 'message') };
        blocks = new Map(objectsIn(message, 'content').map((block, index) => [index, { block, json: '' }]));
        return [];
      case 'content_block_start':
        blocks.set(indexOf(data), { block: { ...objectIn(data, 'content_block') }, json: '' });
        return [];
      case 'content_block_delta': {
        const open = blocks.get(indexOf(data));
        return open === undefined ? [] : takeDelta(open, objectIn(data, 'delta'));
      }
      case 'message_delta':
        message = {
          ...message,
          ...without(data, 'type', 'delta', 'usage'),
          ...objectIn(data, 'delta'),
          usage: { ...objectIn(message, 'usage'), ...objectIn(data, 'usage') },
        };
        return [];
      case 'message_stop':
        stopped = true;
        return [];
      default:
        return [];
    }
  }

  return {
    take,
    takeEnd: () => {},
    phase: () => (stopped ? 'closed' : 'open'),
    whole: () => {
      const order = [...blocks.entries()].sort(([a], [b]) => a - b);
      return { ...message, content: order.map(([, open]) => finished(open)) };
    },
  };
}

function takeDelta(open: OpenBlock, delta: JsonObject): Delta[] {
  switch (stringIn(delta, 'type')) {
    case 'text_delta':
      append(open.block, 'text', delta['text']);
      return [{ kind: 'text', delta: stringIn(delta, 'text') }];
    case 'thinking_delta':
      append(open.block, 'thinking', delta['thinking']);
      return [{ kind: 'thinking', delta: stringIn(delta, 'thinking') }];
    case 'input_json_delta':
      open.json += stringIn(delta, 'partial_json');
      return [];
    case 'citations_delta':
      open.block['citations'] = [...listIn(open.block, 'citations'), delta['citation'] ?? null];
      return [];
    default:
      for (const [key, value] of Object.entries(without(delta, 'type'))) append(open.block, key, value);
      return [];
  }
}

function finished({ block, json }: OpenBlock): JsonObject {
  return 'input' in block && json !== '' ? { ...block, input: readArguments(json) } : block;
}

/** Appends to strings; any other value replaces the previous one. */
function append(block: JsonObject, key: string, value: Json | undefined): void {
  if (value === undefined) return;
  const before = block[key];
  block[key] = typeof before === 'string' && typeof value === 'string' ? before + value : value;
}

function listIn(block: JsonObject, key: string): Json[] {
  const list = block[key];
  return Array.isArray(list) ? list : [];
}

function indexOf(data: JsonObject): number {
  return numberIn(data, 'index') ?? 0;
}
