/**
 * Converts a complete Messages API answer to our shape. Blocks of unknown types are kept opaquely in history and sent
 * back verbatim.
 */
import type { AssistantBlock } from '../../core/conversation/prompt.ts';
import type { Ids } from '../../core/ids.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { FinishReason, ModelOutcome } from '../../core/model/model.ts';
import { unpriced, type Usage } from '../../core/money/usage.ts';
import { readInput } from '../wire/request/arguments.ts';
import { countIn, objectIn, objectsIn, stringIn, without } from '../wire/answer/json.ts';
import { answered, notAnAnswer, refused } from '../wire/answer/outcomes.ts';

export const ANTHROPIC = 'anthropic';

export function readAnswer(whole: JsonObject, ids: Ids): ModelOutcome {
  if (whole['type'] !== 'message' || !Array.isArray(whole['content'])) {
    return notAnAnswer(ANTHROPIC, 'the response is not a message');
  }
  const blocks = objectsIn(whole, 'content');
  const finishReason = finishOf(stringIn(whole, 'stop_reason'));
  if (finishReason === 'refusal') return refused(ANTHROPIC, refusalText(whole, blocks));
  const content = blocks.flatMap((block) => readBlock(block, ids));
  return answered(whole, content, finishReason, readUsage(objectIn(whole, 'usage')));
}

/** `provider` holds the fields of the block that our block does not carry. */
function readBlock(block: JsonObject, ids: Ids): AssistantBlock[] {
  switch (stringIn(block, 'type')) {
    case 'text': {
      const text = stringIn(block, 'text');
      const rest = without(block, 'text');
      const plain = Object.entries(rest).every(([key, value]) => key === 'type' || value === null);
      if (text === '') return [];
      return [plain ? { type: 'text', text } : { type: 'text', text, provider: opaque(rest) }];
    }
    case 'thinking': {
      const provider = opaque(without(block, 'thinking'));
      return [{ type: 'thinking', text: stringIn(block, 'thinking'), provider }];
    }
    case 'tool_use':
      return [
        {
          type: 'tool_use',
          id: ids.next(),
          name: stringIn(block, 'name'),
          input: readInput(block['input'] ?? {}),
          provider: opaque(without(block, 'name', 'input')),
        },
      ];
    default:
      return [{ type: 'thinking', text: '', provider: opaque(block) }];
  }
}

function opaque(data: Json): { name: string; data: Json } {
  return { name: ANTHROPIC, data };
}

function finishOf(reason: string): FinishReason {
  switch (reason) {
    case 'end_turn':
    case 'stop_sequence':
      return 'stop';
    case 'tool_use':
      return 'tool_use';
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'max_tokens';
    case 'pause_turn':
      return 'pause';
    case 'refusal':
      return 'refusal';
    default:
      return 'other';
  }
}

function refusalText(whole: JsonObject, blocks: JsonObject[]): string {
  const details = objectIn(whole, 'stop_details');
  const category = stringIn(details, 'category');
  const explanation = stringIn(details, 'explanation') || blocks.map((block) => stringIn(block, 'text')).join('');
  return [explanation, category === '' ? '' : `(category ${category})`].filter((part) => part !== '').join(' ');
}

function readUsage(usage: JsonObject): Usage {
  return unpriced({
    input_tokens: countIn(usage, 'input_tokens'),
    output_tokens: countIn(usage, 'output_tokens'),
    cache_read_tokens: countIn(usage, 'cache_read_input_tokens'),
    cache_write_tokens: countIn(usage, 'cache_creation_input_tokens'),
  });
}
