/** How long a prompt is, and what each message has of it. In tokens. */
import { blocksTokens, jsonTokens, messageTokens, textTokens } from '../tokens.ts';
import type { Message } from '../message.ts';
import { pinnedText } from '../pinned.ts';
import type { Settings } from '../settings.ts';
import type { Usage } from '../usage.ts';
import { isShortened, lastCompaction, shownBy } from './compacted.ts';
import type { Memory } from './compacted.ts';
import { shortenResults } from './shorten.ts';

type Frame = Pick<Settings, 'systemPrompt' | 'pinned' | 'tools'>;

/**
 * The one estimate of a prompt. What the provider counted is taken where it is known: of the last answer, input, caches and
 * output, with a quarter of the characters of what came since. After a compaction its own estimate takes that place until
 * there is an answer again; without either every character counts. Linear only where nothing is known.
 */
export function promptTokens(memory: Memory, frame: Frame): number {
  const known = lastKnown(memory);
  if (known === null) return countedTokens(memory, frame);
  const since = memory.history.slice(memory.history.findLastIndex(({ seq }) => seq <= known.seq) + 1);
  return known.tokens + since.reduce((sum, message) => sum + messageTokens(message), 0);
}

/** An answer that was made before the last compaction counts nothing: its prompt was another one. */
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

function countedTokens(memory: Memory, frame: Frame): number {
  return totalOf(sizesOf(memory, frame));
}

/** By characters. */
export type Sizes = {
  /** Of the system prompt, pinned texts and tools. */
  fixed: number;
  /** Of the summary that stands; 0: none does. */
  summary: number;
  /** Of each message as it is shown; 0 where the summary stands for it. */
  shown: number[];
  /** The same where results of tools are shortened. */
  short: number[];
};

export function totalOf({ fixed, summary, shown }: Sizes): number {
  return fixed + summary + sum(shown);
}

export function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}

/** Linear in the length of history. */
export function sizesOf(memory: Memory, { systemPrompt, pinned, tools }: Frame): Sizes {
  const { history, compacted } = memory;
  const specs = tools.map(({ name, description, input_schema }) => ({ name, description, input_schema }));
  const isShown = shownBy(memory);
  const sizes = history.map((message) => {
    if (!isShown(message)) return { shown: 0, short: 0 };
    const short = shortTokens(message);
    return { shown: isShortened(compacted, message) ? short : messageTokens(message), short };
  });
  return {
    fixed: textTokens(systemPrompt) + textTokens(pinnedText(pinned)) + jsonTokens(specs),
    summary: compacted.summary === null ? 0 : textTokens(compacted.summary.text),
    shown: sizes.map(({ shown }) => shown),
    short: sizes.map(({ short }) => short),
  };
}

function shortTokens(message: Message): number {
  return message.role === 'tool' ? blocksTokens(shortenResults(message.content)) : messageTokens(message);
}
