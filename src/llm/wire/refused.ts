/** Answers that are no answers: a refusal keeps its words, and what is no answer of the format says so. */
import type { ModelOutcome } from '../../core/model.ts';

export function refused(provider: string, words: string): ModelOutcome {
  const message = `${provider} declined to answer${words === '' ? '' : `: ${words}`}`;
  return { kind: 'failed', failure: { class: 'refused', message, retryAfterMs: null } };
}

/** Retried: a proxy or an overloaded server answered in the provider's place, or in the middle of its work. */
export function notAnAnswer(provider: string, what: string): ModelOutcome {
  const message = `${provider}: ${what}`;
  return { kind: 'failed', failure: { class: 'server_error', message, retryAfterMs: null } };
}
