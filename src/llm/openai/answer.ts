/** Converts a complete response of the Responses API to our shape. */
import type { Ids } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { FinishReason, ModelOutcome } from '../../core/model/model.ts';
import { unpriced, type Usage } from '../../core/money/usage.ts';
import { factsOfBody } from '../wire/answer/error-facts.ts';
import { classify } from '../wire/answer/failure.ts';
import { countIn, objectIn, objectsIn, stringIn } from '../wire/answer/json.ts';
import { notAnAnswer, refused } from '../wire/answer/refused.ts';
import { markTruncated } from '../wire/request/truncated.ts';
import { OPENAI, readItem } from './items.ts';

export function readAnswer(whole: JsonObject, ids: Ids): ModelOutcome {
  const refusal = refusalIn(whole);
  if (refusal !== null) return refused(OPENAI, refusal);
  switch (stringIn(whole, 'status')) {
    case 'completed':
      return done(whole, ids, 'stop');
    case 'incomplete':
      return readIncomplete(whole, ids);
    case 'failed':
      return failed(whole);
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

function failed(whole: JsonObject): ModelOutcome {
  const facts = factsOfBody(objectIn(whole, 'error'));
  const message = `${OPENAI}: ${[facts.code, facts.message].filter((part) => part !== '').join(': ')}`;
  return { kind: 'failed', failure: { class: classify(facts, true), message, retryAfterMs: null } };
}

function done(whole: JsonObject, ids: Ids, finish: FinishReason): ModelOutcome {
  const items = objectsIn(whole, 'output');
  const calls = items.some((item) => item['type'] === 'function_call');
  const finishReason = finish === 'stop' && calls ? 'tool_use' : finish;
  return {
    kind: 'done',
    answer: {
      content: markTruncated(
        items.flatMap((item) => readItem(item, ids)),
        finishReason,
      ),
      finishReason,
      usage: readUsage(objectIn(whole, 'usage')),
      modelId: stringIn(whole, 'model'),
      responseId: stringIn(whole, 'id') || null,
    },
  };
}

function refusalIn(whole: JsonObject): string | null {
  const parts = objectsIn(whole, 'output').flatMap((item) => objectsIn(item, 'content'));
  const refusals = parts.filter((part) => part['type'] === 'refusal');
  return refusals.length === 0 ? null : refusals.map((part) => stringIn(part, 'refusal')).join(' ');
}

/** `input_tokens` includes cached tokens; our count does not. */
function readUsage(usage: JsonObject): Usage {
  const details = objectIn(usage, 'input_tokens_details');
  const read = countIn(details, 'cached_tokens');
  const written = countIn(details, 'cache_write_tokens');
  return unpriced({
    input_tokens: Math.max(0, countIn(usage, 'input_tokens') - read - written),
    output_tokens: countIn(usage, 'output_tokens'),
    cache_read_tokens: read,
    cache_write_tokens: written,
  });
}
