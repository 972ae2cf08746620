/**
 * How much of what is to be summarised a model can read at once: shorter texts where it is too long, less of it where that is
 * not enough. What is left then is summarised next time.
 */
import { formatModelName } from '../model.ts';
import type { Settings } from '../settings.ts';
import { textTokens } from '../tokens.ts';
import { isSummarised } from './compacted.ts';
import type { Memory } from './compacted.ts';
import { callSpans, unseparated } from './cuts.ts';
import { CONTEXT_LIMITS } from './settings.ts';
import { transcriptLines } from './transcript.ts';

/** Characters that are shown of one text, in turn. */
const LONGEST = [20_000, 4_000, 1_000] as const;
const SHORTEST = LONGEST[2];

/** Share of its prompt that a model is given to read: the rest is for what it writes, and for an estimate that is wrong. */
const READ = 0.7;

/** The cut that can be reached from a wanted one, and how much of one text is shown; null: none. */
export type Reader = (wanted: number) => { cut: number; longest: number } | null;

/** In tokens. `refused`: so many were more than the provider takes; null: none were. */
export function readingRoom({ model, compaction, contextLimit }: Settings, refused: number | null): number {
  const summariser = compaction.model ?? model;
  const isOther = formatModelName(summariser) !== formatModelName(model);
  const known = isOther ? Math.min(contextLimit, CONTEXT_LIMITS[summariser.provider]) : contextLimit;
  return READ * Math.min(known, refused === null ? known : Math.max(1_000, refused));
}

/** Each length is measured once, when it is first asked for. */
export function readerOf({ history, compacted }: Memory, room: number): Reader {
  const left = room - textTokens(compacted.summary?.text ?? '');
  const from = history.findIndex((message) => !isSummarised(compacted, message));
  const measured = new Map<number, number[]>();
  const tokensOf = (longest: number): number[] => {
    const known = measured.get(longest);
    if (known !== undefined) return known;
    const tokens = transcriptLines(history.slice(from), longest).map((line) => textTokens(line) + 1);
    measured.set(longest, tokens);
    return tokens;
  };
  return (wanted) => {
    if (from < 0) return null;
    for (const most of LONGEST) {
      const longest = Math.min(most, Math.max(100, Math.floor(left)));
      const fitting = from + howMany(tokensOf(longest), wanted - from, left);
      if (fitting === wanted) return { cut: wanted, longest };
      if (most !== SHORTEST) continue;
      const cut = unseparated(fitting, callSpans(history));
      return cut > from ? { cut, longest } : null;
    }
    return null;
  };
}

/** How many of the first `wanted` fit in the room. */
function howMany(tokens: readonly number[], wanted: number, room: number): number {
  let used = 0;
  for (let count = 0; count < wanted; count += 1) {
    used += tokens[count] ?? 0;
    if (used > room) return count;
  }
  return wanted;
}
