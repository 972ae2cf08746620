/** Shared by tests of models: requests with defaults, ids that count, and a subscriber that records. */
import type { Block } from '../../src/core/conversation/blocks.ts';
import type { Ids, MessageId, ToolCallId } from '../../src/core/ids.ts';
import type { Message, MessageRole } from '../../src/core/conversation/message.ts';
import type {
  Model,
  ModelAnswer,
  ModelFailure,
  ModelListener,
  ModelOutcome,
  ModelRequest,
  ProviderName,
} from '../../src/core/model/model.ts';
import { assemble, type PromptMessage } from '../../src/core/conversation/prompt.ts';
import { createModels, type Models, type ModelsOptions } from '../../src/llm/models.ts';
import type { FakeProvider } from './fake-provider.ts';

export const KEY = 'sk-test-key-that-must-not-leak';

export function countingIds(): Ids {
  let count = 0;
  return { next: <T extends string>() => uuid(++count) as T };
}

/** The `number`th id of a test. */
export function uuid(number: number): string {
  return `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

export function modelsFor(fake: FakeProvider, options: Partial<ModelsOptions> = {}): Models {
  return createModels({
    anthropic: { apiKey: KEY, baseURL: fake.anthropicURL },
    openai: { apiKey: KEY, baseURL: fake.openaiURL },
    idleTimeoutMs: 50_000,
    ids: countingIds(),
    ...options,
  });
}

export function modelFor(models: Models, provider: ProviderName): Model {
  const model = models.for(provider);
  if (model === null) throw new Error(`${provider} is not configured`);
  return model;
}

export function request(provider: ProviderName, given: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: { provider, model: 'test-model' },
    system: '',
    pinned: '',
    messages: [user('Hello')],
    tools: [],
    maxTokens: null,
    streaming: true,
    outputSchema: null,
    parameters: {},
    cacheKey: 'context/main',
    failures: 0,
    ...given,
  };
}

export function user(text: string): PromptMessage {
  return { role: 'user', content: [{ type: 'text', text }] };
}

/** A prompt of the given messages, made the way the loop makes it. */
export function promptOf(...entries: { role: MessageRole; content: Block[] }[]): PromptMessage[] {
  return assemble(entries.map(message));
}

export function message(entry: { role: MessageRole; content: Block[] }, index: number): Message {
  return {
    ...entry,
    id: uuid(0xf000 + index) as MessageId,
    seq: index + 1,
    type: 'text',
    turn: 'u1',
    jobId: null,
    model: null,
  };
}

export function callId(number: number): ToolCallId {
  return uuid(number) as ToolCallId;
}

export type Recording = { starts: number; text: string[]; thinking: string[]; listener: ModelListener };

export function recorder(): Recording {
  const deltas: Recording = {
    starts: 0,
    text: [],
    thinking: [],
    listener: {
      started: () => void deltas.starts++,
      text: (delta) => void deltas.text.push(delta),
      thinking: (delta) => void deltas.thinking.push(delta),
    },
  };
  return deltas;
}

export async function ask(
  model: Model,
  asked: ModelRequest,
  deltas: Recording = recorder(),
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelOutcome> {
  return await model.call(asked, deltas.listener, signal);
}

export function answerOf(outcome: ModelOutcome): ModelAnswer {
  if (outcome.kind !== 'done') throw new Error(`no answer: ${JSON.stringify(outcome)}`);
  return outcome.answer;
}

export function failureOf(outcome: ModelOutcome): ModelFailure {
  if (outcome.kind !== 'failed') throw new Error(`no failure: ${JSON.stringify(outcome)}`);
  return outcome.failure;
}
