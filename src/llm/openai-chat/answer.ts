/** Converts a complete chat completion to our shape. */
import type { Block, ToolUseBlock } from '../../core/conversation/blocks.ts';
import type { Ids } from '../../core/ids.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { FinishReason, ModelOutcome } from '../../core/model/model.ts';
import { argumentsText, readArguments } from '../wire/request/arguments.ts';
import { factsOfEvent } from '../wire/answer/error-facts.ts';
import { classify } from '../wire/answer/failure.ts';
import { objectIn, objectsIn, stringIn, without } from '../wire/answer/json.ts';
import { answered, failed, notAnAnswer, refused } from '../wire/answer/outcomes.ts';
import { readUsage } from '../openai/usage.ts';
import { argumentsOf } from './call-list.ts';
import { OPENAI_CHAT, REASONING_FIELDS, contentText } from './message.ts';

export function readAnswer(whole: JsonObject, ids: Ids): ModelOutcome {
  const [choice] = objectsIn(whole, 'choices');
  if (choice === undefined) return withoutChoice(whole);
  const message = objectIn(choice, 'message');
  const reason = stringIn(choice, 'finish_reason');
  const refusal = stringIn(message, 'refusal');
  if (refusal !== '') return refused(OPENAI_CHAT, refusal);
  if (reason === 'content_filter') return refused(OPENAI_CHAT, contentText(message['content']) || 'content filter');
  const content = readMessage(message, ids);
  return answered(
    whole,
    content,
    finishOf(reason, content),
    readUsage(objectIn(whole, 'usage'), 'prompt', 'completion'),
  );
}

/** Some servers send an error with status 200. */
function withoutChoice(whole: JsonObject): ModelOutcome {
  const facts = factsOfEvent('', whole);
  if (facts === null) return notAnAnswer(OPENAI_CHAT, 'the response has no choices');
  return failed(classify(facts, true), `${OPENAI_CHAT}: ${facts.message}`);
}

function readMessage(message: JsonObject, ids: Ids): Block[] {
  const blocks: Block[] = [];
  const field = REASONING_FIELDS.find((name) => contentText(message[name]) !== '');
  if (field !== undefined) {
    const provider = { name: OPENAI_CHAT, data: { field } };
    blocks.push({ type: 'thinking', text: contentText(message[field]), provider });
  }
  const text = contentText(message['content']);
  if (text !== '') blocks.push({ type: 'text', text });
  const legacy = isJsonObject(message['function_call']) ? [{ function: message['function_call'] }] : [];
  const calls = [...objectsIn(message, 'tool_calls'), ...legacy];
  return [...blocks, ...calls.map((call) => readCall(call, ids))];
}

/** Other fields of a call (such as a signature) are sent back with it. */
function readCall(call: JsonObject, ids: Ids): ToolUseBlock {
  const calledFunction = objectIn(call, 'function');
  const raw = argumentsOf(calledFunction['arguments']);
  const input = readArguments(raw);
  const lean = without(call, 'type', 'function', 'index');
  const data = argumentsText(input, '') === raw ? lean : { ...lean, arguments: raw };
  const provider = { name: OPENAI_CHAT, data };
  return { type: 'tool_use', id: ids.next(), name: stringIn(calledFunction, 'name'), input, provider };
}

function finishOf(reason: string, content: readonly Block[]): FinishReason {
  switch (reason) {
    case 'length':
      return 'max_tokens';
    // Not every server reports tool calls as the finish reason.
    case 'stop':
    case 'tool_calls':
    case 'function_call':
    case '':
      return content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'stop';
    default:
      return 'other';
  }
}
