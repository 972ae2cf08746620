/** The outcomes of a complete response: an answer, a refusal by the model with its text, or a failure. */
import { isToolUse, type Block } from '../../../core/conversation/blocks.ts';
import { isJsonObject, type JsonObject } from '../../../core/json.ts';
import type { FailureClass, FinishReason, ModelOutcome } from '../../../core/model/model.ts';
import type { Usage } from '../../../core/money/usage.ts';
import { stringIn } from './json.ts';

/** The providers name the model and the response alike. */
export function answered(whole: JsonObject, content: Block[], finishReason: FinishReason, usage: Usage): ModelOutcome {
  return {
    kind: 'done',
    answer: {
      content: finishReason === 'max_tokens' ? withoutCutCall(content) : content,
      finishReason,
      usage,
      modelId: stringIn(whole, 'model'),
      responseId: stringIn(whole, 'id') || null,
    },
  };
}

/**
 * A call that the token limit cut off before its first argument looks like a call without arguments, and would run.
 * It gets arguments that no schema accepts, so that the model receives an error and repeats it.
 */
function withoutCutCall(content: Block[]): Block[] {
  const last = content.at(-1);
  if (last === undefined || !isToolUse(last)) return content;
  const empty = isJsonObject(last.input) && Object.keys(last.input).length === 0;
  return empty ? [...content.slice(0, -1), { ...last, input: '' }] : content;
}

export function failed(kind: FailureClass, message: string): ModelOutcome {
  return { kind: 'failed', failure: { class: kind, message, retryAfterMs: null } };
}

export function refused(provider: string, explanation: string): ModelOutcome {
  return failed('refused', `${provider} declined to answer${explanation === '' ? '' : `: ${explanation}`}`);
}

/** Retried: usually a proxy or an overloaded server answered instead of the provider, or was interrupted. */
export function notAnAnswer(provider: string, what: string): ModelOutcome {
  return failed('server_error', `${provider}: ${what}`);
}
