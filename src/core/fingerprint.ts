/**
 * What was sent to a model, as hashes that are stored with what came of it: by them it is told where a request does not begin
 * as the one before it did, which makes a provider's prompt cache miss, and whether a prompt that was put together again is
 * the one that was sent. Of the platform's own shapes: every adapter translates them in the same way.
 */
import { lastCompaction } from './compaction/compacted.ts';
import type { Memory } from './compaction/compacted.ts';
import { formatModelName } from './model.ts';
import type { ModelRequest, ToolSpec } from './model.ts';
import type { PromptMessage } from './prompt.ts';
import { memoize } from './memoize.ts';

export type Fingerprint = {
  /** What of the context had this number or a lower one was there. */
  upto: number;
  /** `provider/model`. */
  model: string;
  tools: string;
  /** Of the tools but for the client's own: under which they are kept. */
  listed: string;
  /** Of the system prompt and the pinned texts. */
  system: string;
  /** Of the rest: what the provider is told beside the prompt. */
  parameters: string;
  messages: string;
  /** Of the messages before the last answer: all that was sent for it. Null: there is no answer yet. */
  before: string | null;
};

/** A request, as far as it is sent; `listed`: those of its tools that are not the client's own. */
export type Sent = Omit<ModelRequest, 'cacheKey' | 'failures'> & { listed: readonly ToolSpec[] };

/** Short, and of all of `texts` in their order. */
export type Digest = (texts: readonly string[]) => string;

export type Fingerprinter = {
  /** Linear in the number of messages; of each the words are looked at once, for as long as it is there. */
  of(sent: Sent, memory: Memory): Fingerprint;
  tools(tools: readonly ToolSpec[]): string;
  system(system: string, pinned: string): string;
  parameters(beside: Pick<Sent, 'maxTokens' | 'streaming' | 'parameters'>): string;
  messages(messages: readonly PromptMessage[]): string;
};

export function createFingerprinter(digest: Digest): Fingerprinter {
  const ofMessage = memoize((message: PromptMessage) => digest([JSON.stringify(message)]));
  const ofTool = memoize((tool: ToolSpec) => digest([JSON.stringify(asSent(tool))]));
  const by: Omit<Fingerprinter, 'of'> = {
    tools: (tools) => digest(tools.map(ofTool)),
    system: (system, pinned) => digest([system, pinned]),
    parameters: ({ maxTokens, streaming, parameters }) =>
      digest([JSON.stringify({ maxTokens, streaming, parameters })]),
    messages: (messages) => digest(messages.map(ofMessage)),
  };
  return {
    ...by,
    of(sent, { history, compacted }) {
      const { messages } = sent;
      const answer = messages.findLastIndex(({ role }) => role === 'assistant');
      return {
        upto: Math.max(history.at(-1)?.seq ?? 0, lastCompaction(compacted)?.seq ?? 0),
        model: formatModelName(sent.model),
        tools: by.tools(sent.tools),
        listed: by.tools(sent.listed),
        system: by.system(sent.system, sent.pinned),
        parameters: by.parameters(sent),
        messages: by.messages(messages),
        before: answer < 0 ? null : by.messages(messages.slice(0, answer)),
      };
    },
  };
}

/** A tool as a provider is told of it. */
export function asSent({ name, description, input_schema }: ToolSpec): ToolSpec {
  return { name, description, input_schema };
}

/** In the order in which providers compare prompts. */
export const PREFIX_PARTS = ['model', 'tools', 'system', 'messages'] as const;
export type PrefixPart = (typeof PREFIX_PARTS)[number];

/**
 * Where a request ceases to begin as the one before it; null: nowhere. `answered`: an answer came of the one before, and
 * stands in this one behind all that was sent for it. What failed is sent anew, and maybe more behind it.
 */
export function lostAt(before: Fingerprint, answered: boolean, now: Fingerprint): PrefixPart | null {
  const begins = answered
    ? now.before === before.messages
    : now.messages === before.messages || now.before === before.before;
  const same: Record<PrefixPart, boolean> = {
    model: now.model === before.model,
    tools: now.tools === before.tools,
    system: now.system === before.system,
    messages: begins,
  };
  return PREFIX_PARTS.find((part) => !same[part]) ?? null;
}
