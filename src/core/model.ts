/**
 * The port to a model: what the loop asks of a provider, and every way the answer can turn out. Failures are values;
 * an adapter throws only for bugs, and never retries by itself (`retry.ts` alone decides).
 */
import type { Block } from './blocks.ts';
import type { JsonObject } from './json.ts';
import type { PromptMessage } from './prompt.ts';
import type { Usage } from './usage.ts';

export const PROVIDERS = ['anthropic', 'openai', 'openai-chat', 'simulated'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** `provider/model` as the contract names it, taken apart. `model` may itself hold slashes. */
export type ModelName = { provider: ProviderName; model: string };

export function isProviderName(text: string): text is ProviderName {
  return (PROVIDERS as readonly string[]).includes(text);
}

/** `null` where there is no slash, nothing behind it, or no such provider. */
export function parseModelName(name: string): ModelName | null {
  const slash = name.indexOf('/');
  const provider = name.slice(0, Math.max(slash, 0));
  const model = name.slice(slash + 1);
  return slash > 0 && model !== '' && isProviderName(provider) ? { provider, model } : null;
}

export function formatModelName(name: ModelName): string {
  return `${name.provider}/${name.model}`;
}

/** A tool as a model sees it. `input_schema` is a JSON Schema of an object. */
export type ToolSpec = { name: string; description: string; input_schema: JsonObject };

export type ModelRequest = {
  model: ModelName;
  /** Empty: no system prompt. */
  system: string;
  /** Stands right behind it, the same in every prompt; empty: nothing does. */
  pinned: string;
  /** Valid by construction: alternating, every `tool_use` answered (see `prompt.ts`). */
  messages: readonly PromptMessage[];
  /** Sorted by name, so that the prompt's prefix stays stable for caching. */
  tools: readonly ToolSpec[];
  /** Tokens; null: the provider's default. */
  maxTokens: number | null;
  streaming: boolean;
  /** Passed to the provider as they are; reserved names never get here. */
  parameters: JsonObject;
  /** One for all contexts whose prompts begin alike, for caches that are keyed. */
  cacheKey: string;
  /** How often in a row this call has failed before; 0 at first. */
  failures: number;
};

/** Why a model call brought no answer. `retry.ts` says what follows from each. */
export type FailureClass =
  | 'rate_limited'
  | 'overloaded'
  | 'server_error'
  | 'unreachable'
  | 'stream_interrupted'
  | 'stream_stalled'
  | 'prompt_too_long'
  | 'refused'
  | 'bad_request'
  | 'auth';

export type ModelFailure = {
  class: FailureClass;
  /** For a person: never holds a key. */
  message: string;
  /** What the provider asked for (Retry-After), in milliseconds; null where it said nothing. */
  retryAfterMs: number | null;
};

/** Why the model ended: `other` keeps whatever the provider said in the message's own `finish_reason`. */
export type FinishReason = 'stop' | 'tool_use' | 'max_tokens' | 'pause' | 'refusal' | 'other';

export type ModelAnswer = {
  content: Block[];
  finishReason: FinishReason;
  usage: Usage;
  /** The model that answered, as the provider names it (without our prefix). */
  modelId: string;
  /** The provider's id of the response; null where it gave none. */
  responseId: string | null;
};

export type ModelOutcome =
  | { kind: 'done'; answer: ModelAnswer }
  | { kind: 'failed'; failure: ModelFailure }
  /** `signal` was aborted and the provider's connection is closed. */
  | { kind: 'aborted' };

/** Told while an answer streams in. Called in order; must not throw; must return at once. */
export type ModelListener = {
  /** The first byte of the answer came. */
  started(): void;
  text(delta: string): void;
  thinking(delta: string): void;
};

/** One provider. `call` resolves exactly once, and never before the provider's own terminal event. */
export type Model = {
  call(request: ModelRequest, listener: ModelListener, signal: AbortSignal): Promise<ModelOutcome>;
};
