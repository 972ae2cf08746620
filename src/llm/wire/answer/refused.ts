/** Outcomes without a usable answer: a refusal by the model, with its text, or a response in the wrong format. */
import type { ModelOutcome } from '../../../core/model/model.ts';

export function refused(provider: string, explanation: string): ModelOutcome {
  const message = `${provider} declined to answer${explanation === '' ? '' : `: ${explanation}`}`;
  return { kind: 'failed', failure: { class: 'refused', message, retryAfterMs: null } };
}

/** Retried: usually a proxy or an overloaded server answered instead of the provider, or was interrupted. */
export function notAnAnswer(provider: string, what: string): ModelOutcome {
  const message = `${provider}: ${what}`;
  return { kind: 'failed', failure: { class: 'server_error', message, retryAfterMs: null } };
}
