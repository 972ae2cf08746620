/**
 * The port to a model: the request to a provider and every possible outcome. Failures are values. An adapter throws
 * only for bugs and never retries (only `retry.ts` decides that).
 */
import type { Block } from '../conversation/blocks.ts';
import type { JsonObject } from '../json.ts';
import type { PromptMessage } from '../conversation/prompt.ts';
import type { Usage } from '../money/usage.ts';

export const PROVIDERS = ['anthropic', 'openai', 'openai-chat', 'simulated'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** A parsed `provider/model` name. `model` may contain slashes. */
export type ModelName = { provider: ProviderName; model: string };

/** `null` if there is no slash, nothing after it, or no such provider. */
export function parseModelName(name: string): ModelName | null {
  const slash = name.indexOf('/');
  const provider = PROVIDERS.find((known) => known === name.slice(0, Math.max(slash, 0)));
  const model = name.slice(slash + 1);
  return provider === undefined || model === '' ? null : { provider, model };
}

export function formatModelName(name: ModelName): string {
  return `${name.provider}/${name.model}`;
}

/** A tool as sent to a model. `input_schema` is a JSON Schema of an object. */
export type ToolSpec = { name: string; description: string; input_schema: JsonObject };

export type ModelRequest = {
  model: ModelName;
  /** Empty: no system prompt. */
  system: string;
  /** Follows the system prompt, identical in every prompt; empty: none. */
  pinned: string;
  /** Valid by construction: roles alternate and every `tool_use` has a result (see `prompt.ts`). */
  messages: readonly PromptMessage[];
  /** Sorted by name, so that the prompt prefix stays stable for caching. */
  tools: readonly ToolSpec[];
  /** Tokens; null: the provider's default. */
  maxTokens: number | null;
  streaming: boolean;
  /** The JSON Schema that the answer must match; null: any text. */
  outputSchema: JsonObject | null;
  /** Passed to the provider unchanged; reserved names are excluded before. */
  parameters: JsonObject;
  /** Shared by all contexts whose prompts start alike, for caches that use a key. */
  cacheKey: string;
  /** Consecutive earlier failures of this call; 0 for the first attempt. */
  failures: number;
};

/** Why a model call returned no answer. `retry.ts` defines how each class is handled. */
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
  /** For a person; never contains a key. */
  message: string;
  /** The wait the provider requested (Retry-After), in milliseconds; null: none. */
  retryAfterMs: number | null;
};

/** Why the model stopped. With `other`, the message's own `finish_reason` has the provider's value. */
export type FinishReason = 'stop' | 'tool_use' | 'max_tokens' | 'pause' | 'refusal' | 'other';

export type ModelAnswer = {
  content: Block[];
  finishReason: FinishReason;
  usage: Usage;
  /** The model that answered, by the provider's name (without the provider prefix). */
  modelId: string;
  /** The provider's id of the response; null: none. */
  responseId: string | null;
};

export type ModelOutcome =
  | { kind: 'done'; answer: ModelAnswer }
  | { kind: 'failed'; failure: ModelFailure }
  /** `signal` was aborted and the connection to the provider is closed. */
  | { kind: 'aborted' };

/** Callbacks while an answer streams in. They are called in order, must not throw and must return at once. */
export type ModelListener = {
  /** The first byte of the answer arrived. */
  started(): void;
  text(delta: string): void;
  thinking(delta: string): void;
};

/** Calls `before` at the first byte of the answer, then the listener. */
export function beforeStart(listener: ModelListener, before: () => void): ModelListener {
  return {
    started() {
      before();
      listener.started();
    },
    text: (delta) => listener.text(delta),
    thinking: (delta) => listener.thinking(delta),
  };
}

/** One provider. `call` resolves exactly once, and not before the provider's own terminal event. */
export type Model = {
  /** False: the next call first loads the provider's SDK, which keeps the process busy for hundreds of milliseconds. */
  isLoaded(): boolean;
  call(request: ModelRequest, listener: ModelListener, signal: AbortSignal): Promise<ModelOutcome>;
};
