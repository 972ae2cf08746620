/**
 * Assembles the chunks of a Chat Completions stream into the complete completion. Compatible servers differ: usage
 * comes last, with every chunk, or never; parts of a tool call come with an index, an id, both, or neither; `[DONE]`
 * is sometimes missing. The answer is complete with a finish reason, or with `[DONE]` after a choice.
 */
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { Assembly, Delta } from '../wire/wire.ts';
import { objectIn, objectsIn, stringIn, without } from '../wire/answer/json.ts';
import { createCallList, type CallList } from './call-list.ts';
import { REASONING_FIELDS, contentText } from './message.ts';

export function createAssembly(): Assembly {
  const calls = createCallList();
  let head: JsonObject = {};
  let usage: JsonObject = {};
  const message: JsonObject = { role: 'assistant', content: '' };
  let finish: string | null = null;
  let chosen = false;
  let done = false;

  function take(chunk: JsonObject): Delta[] {
    for (const key of ['id', 'model']) if (stringIn(chunk, key) !== '') head[key] = stringIn(chunk, key);
    if (isJsonObject(chunk['usage'])) usage = chunk['usage'];
    const choice = objectsIn(chunk, 'choices').find((one) => (one['index'] ?? 0) === 0);
    if (choice === undefined) {
      // A chunk without a choice is the last one: it has the requested usage.
      if (finish !== null && isJsonObject(chunk['usage'])) done = true;
      return [];
    }
    chosen = true;
    if (stringIn(choice, 'finish_reason') !== '') finish = stringIn(choice, 'finish_reason');
    const delta = isJsonObject(choice['delta']) ? choice['delta'] : objectIn(choice, 'message');
    return takeDelta(message, calls, delta);
  }

  return {
    take,
    takeEnd: () => {
      done ||= chosen;
    },
    phase: () => (done ? 'closed' : finish === null ? 'open' : 'ended'),
    whole: () => {
      const tool_calls = calls.whole();
      const wholeMessage = tool_calls.length === 0 ? message : { ...message, tool_calls };
      return {
        ...without(head),
        usage,
        choices: [{ index: 0, message: wholeMessage, finish_reason: finish }],
      };
    },
  };
}

/** Adds a delta to the message and to its calls. */
function takeDelta(message: JsonObject, calls: CallList, delta: JsonObject): Delta[] {
  const deltas: Delta[] = [];
  for (const field of REASONING_FIELDS) {
    const thinking = contentText(delta[field]);
    if (thinking === '') continue;
    message[field] = stringIn(message, field) + thinking;
    // Servers that fill both fields repeat the same text.
    if (deltas.length === 0) deltas.push({ kind: 'thinking', delta: thinking });
  }
  const text = contentText(delta['content']);
  if (text !== '') {
    message['content'] = stringIn(message, 'content') + text;
    deltas.push({ kind: 'text', delta: text });
  }
  const refusal = stringIn(delta, 'refusal');
  if (refusal !== '') message['refusal'] = stringIn(message, 'refusal') + refusal;
  for (const part of objectsIn(delta, 'tool_calls')) calls.take(part);
  if (isJsonObject(delta['function_call'])) calls.take({ index: 0, function: delta['function_call'] });
  return deltas;
}
