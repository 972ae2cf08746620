/** The size of a prompt and the share of each message, in tokens. */
import { blocksTokens, jsonTokens, textTokens } from '../money/tokens.ts';
import { pinnedText } from '../conversation/pinned.ts';
import type { Settings } from '../workers/settings.ts';
import type { Usage } from '../money/usage.ts';
import { isShortened, lastCompaction, shownBy, type Memory } from './compacted.ts';
import { shortenResults } from './shorten.ts';

type Frame = Pick<Settings, 'systemPrompt' | 'pinned' | 'tools' | 'outputSchema'>;

/**
 * The only estimate of a prompt's size. It starts from the provider's token count of the last answer (input, caches
 * and output) and adds a quarter of the characters that came later. After a compaction, that compaction's own
 * estimate is the starting point until the next answer. With neither, all characters are counted, which is the only
 * case that is linear in the history.
 */
export function promptTokens(memory: Memory, frame: Frame): number {
  const known = lastKnown(memory);
  if (known === null) return totalOf(sizesOf(memory, frame));
  const since = memory.history.slice(memory.history.findLastIndex(({ seq }) => seq <= known.seq) + 1);
  return known.tokens + sum(since.map(({ content }) => blocksTokens(content)));
}

/** An answer older than the last compaction does not count: its prompt was a different one. */
function lastKnown({ history, compacted }: Memory): { seq: number; tokens: number } | null {
  const last = lastCompaction(compacted);
  const answer = history.findLast(({ model }) => model !== null && counted(model.usage) > 0);
  if (answer?.model && answer.seq > (last?.seq ?? 0)) {
    return { seq: answer.seq, tokens: counted(answer.model.usage) };
  }
  return last === null || last.tokensAfter === null ? null : { seq: last.seq, tokens: last.tokensAfter };
}

function counted({ input_tokens, output_tokens, cache_read_tokens, cache_write_tokens }: Usage): number {
  const prompt = input_tokens + cache_read_tokens + cache_write_tokens;
  return prompt === 0 ? 0 : prompt + output_tokens;
}

/** Estimated from characters. */
export type Sizes = {
  /** Of the system prompt, pinned texts, tools and output schema. */
  fixed: number;
  /** Of the current summary; 0: there is none. */
  summary: number;
  /** Of each message as shown in the prompt; 0 if the summary covers it. */
  shown: number[];
  /** The same with tool results shortened. */
  short: number[];
};

export function totalOf({ fixed, summary, shown }: Sizes): number {
  return fixed + summary + sum(shown);
}

export function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}

/** Linear in the length of history. */
export function sizesOf(memory: Memory, { systemPrompt, pinned, tools, outputSchema }: Frame): Sizes {
  const { history, compacted } = memory;
  const specs = tools.map(({ name, description, input_schema }) => ({ name, description, input_schema }));
  const isShown = shownBy(memory);
  const sizes = history.map((message) => {
    if (!isShown(message)) return { shown: 0, short: 0 };
    const whole = blocksTokens(message.content);
    const short = message.role === 'tool' ? blocksTokens(shortenResults(message.content)) : whole;
    return { shown: isShortened(compacted, message) ? short : whole, short };
  });
  return {
    fixed:
      textTokens(systemPrompt) +
      textTokens(pinnedText(pinned)) +
      jsonTokens(specs) +
      (outputSchema === null ? 0 : jsonTokens(outputSchema)),
    summary: compacted.summary === null ? 0 : textTokens(compacted.summary.text),
    shown: sizes.map(({ shown }) => shown),
    short: sizes.map(({ short }) => short),
  };
}
