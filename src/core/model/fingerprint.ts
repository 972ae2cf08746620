/**
 * Hashes of what was sent to a model, stored with the result. They show where a request does not start like the
 * previous one, which causes a miss in the provider's prompt cache, and whether a rebuilt prompt equals the one that
 * was sent. They are computed from Nightshift's own shapes, which every adapter translates deterministically.
 */
import { lastCompaction, type Memory } from '../compaction/compacted.ts';
import type { JsonObject } from '../json.ts';
import { formatModelName, type ModelRequest, type ToolSpec } from './model.ts';
import type { PromptMessage } from '../conversation/prompt.ts';
import { memoize } from '../memoize.ts';

export type Fingerprint = {
  /** Entries of the context up to this number existed at the time. */
  upto: number;
  /** `provider/model`. */
  model: string;
  tools: string;
  /** Of the tools without the client's own: the key they are stored under. */
  listed: string;
  /** Of the system prompt, the pinned texts, and the schema of the answer, which providers put before them. */
  system: string;
  /** Of everything else the provider receives besides the prompt. */
  parameters: string;
  messages: string;
  /** Of the messages before the last answer, which is all that was sent for it. Null: there is no answer yet. */
  before: string | null;
};

/** A request as it is sent. `listed`: its tools without the client's own, in the same order. */
export type Sent = Omit<ModelRequest, 'cacheKey' | 'failures'> & { listed: readonly ToolSpec[] };

/** A short hash over all `texts` in order. */
export type Digest = (texts: readonly string[]) => string;

type Fingerprinter = {
  /** Linear in the number of messages; each message object is hashed only once. */
  of(sent: Sent, memory: Memory): Fingerprint;
  tools(tools: readonly ToolSpec[]): string;
  system(system: string, pinned: string, outputSchema: JsonObject | null): string;
  parameters(beside: Pick<Sent, 'maxTokens' | 'streaming' | 'parameters'>): string;
  messages(messages: readonly PromptMessage[]): string;
};

export function createFingerprinter(digest: Digest): Fingerprinter {
  const ofMessage = memoize((message: PromptMessage) => digest([JSON.stringify(message)]));
  const ofTool = memoize((tool: ToolSpec) => digest([JSON.stringify(asSent(tool))]));
  const by: Omit<Fingerprinter, 'of'> = {
    tools: (tools) => digest(tools.map(ofTool)),
    system: (system, pinned, outputSchema) =>
      digest([system, pinned, ...(outputSchema === null ? [] : [JSON.stringify(outputSchema)])]),
    parameters: ({ maxTokens, streaming, parameters }) =>
      digest([JSON.stringify({ maxTokens, streaming, parameters })]),
    messages: (messages) => digest(messages.map(ofMessage)),
  };
  return {
    ...by,
    of(sent, { history, compacted }) {
      const { messages } = sent;
      const answer = messages.findLastIndex(({ role }) => role === 'assistant');
      const tools = by.tools(sent.tools);
      return {
        upto: Math.max(history.at(-1)?.seq ?? 0, lastCompaction(compacted)?.seq ?? 0),
        model: formatModelName(sent.model),
        tools,
        listed: sent.listed.length === sent.tools.length ? tools : by.tools(sent.listed),
        system: by.system(sent.system, sent.pinned, sent.outputSchema),
        parameters: by.parameters(sent),
        messages: by.messages(messages),
        before: answer < 0 ? null : by.messages(messages.slice(0, answer)),
      };
    },
  };
}

/** The fields of a tool that a provider receives. */
export function asSent({ name, description, input_schema }: ToolSpec): ToolSpec {
  return { name, description, input_schema };
}

/** In the order in which providers compare prompts. */
export const PREFIX_PARTS = ['model', 'tools', 'system', 'messages'] as const;
export type PrefixPart = (typeof PREFIX_PARTS)[number];

/**
 * Where a request stops matching the previous one; null: nowhere. `answered`: the previous request got an answer,
 * which follows everything that was sent for it. A failed request is sent again, possibly with more messages after
 * it.
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
