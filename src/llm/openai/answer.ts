/** Converts a complete response of the Responses API to our shape. */
import type { Ids } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { FinishReason, ModelOutcome } from '../../core/model/model.ts';
import { factsOfBody } from '../wire/answer/error-facts.ts';
import { classify } from '../wire/answer/failure.ts';
import { objectIn, objectsIn, stringIn } from '../wire/answer/json.ts';
import { answered, failed, notAnAnswer, refused } from '../wire/answer/outcomes.ts';
import { OPENAI, readItem } from './items.ts';
import { readUsage } from './usage.ts';

export function readAnswer(whole: JsonObject, ids: Ids): ModelOutcome {
  const refusal = refusalIn(whole);
  if (refusal !== null) return refused(OPENAI, refusal);
  switch (stringIn(whole, 'status')) {
    case 'completed':
      return done(whole, ids, 'stop');
    case 'incomplete':
      return readIncomplete(whole, ids);
    case 'failed':
      return readError(whole);
    default:
      // Some compatible servers omit the status.
      return Array.isArray(whole['output']) && whole['status'] === undefined
        ? done(whole, ids, 'stop')
        : notAnAnswer(OPENAI, `the response has the status ${stringIn(whole, 'status') || '(none)'}`);
  }
}

function readIncomplete(whole: JsonObject, ids: Ids): ModelOutcome {
  const reason = stringIn(objectIn(whole, 'incomplete_details'), 'reason');
  if (reason === 'content_filter') return refused(OPENAI, 'its content filter stopped the answer');
  return done(whole, ids, reason === 'max_output_tokens' ? 'max_tokens' : 'other');
}

function readError(whole: JsonObject): ModelOutcome {
  const facts = factsOfBody(objectIn(whole, 'error'));
  const message = [facts.code, facts.message].filter((part) => part !== '').join(': ');
  return failed(classify(facts, true), `${OPENAI}: ${message}`);
}

function done(whole: JsonObject, ids: Ids, finish: FinishReason): ModelOutcome {
  const items = objectsIn(whole, 'output');
  const calls = items.some((item) => item['type'] === 'function_call');
  const finishReason = finish === 'stop' && calls ? 'tool_use' : finish;
  const content = items.flatMap((item) => readItem(item, ids));
  return answered(whole, content, finishReason, readUsage(objectIn(whole, 'usage'), 'input', 'output'));
}

function refusalIn(whole: JsonObject): string | null {
  const parts = objectsIn(whole, 'output').flatMap((item) => objectsIn(item, 'content'));
  const refusals = parts.filter((part) => part['type'] === 'refusal');
  return refusals.length === 0 ? null : refusals.map((part) => stringIn(part, 'refusal')).join(' ');
}
