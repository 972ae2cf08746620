/**
 * How much of the history a summarising model can read at once: first texts are shortened, then fewer messages are
 * read. The remaining messages are summarised next time.
 */
import { formatModelName } from '../model/model.ts';
import type { Settings } from '../workers/settings.ts';
import { textTokens } from '../money/tokens.ts';
import { isSummarised, type Memory } from './compacted.ts';
import { callSpans, unseparated } from './cuts.ts';
import { CONTEXT_LIMITS } from './settings.ts';
import { transcriptLines } from './transcript.ts';

/** Maximum characters shown of one text, tried in order. */
const LONGEST = [20_000, 4_000, 1_000] as const;
const SHORTEST = LONGEST[2];

/** Share of the model's prompt used for input. The rest is left for its output and for estimation errors. */
const READ = 0.7;

/** The cut that can be reached towards the wanted one, and the maximum characters of one text; null: none. */
export type Reader = (wanted: number) => { cut: number; longest: number } | null;

/** In tokens. `refused`: a prompt size that the provider refused; null: none was refused. */
export function readingRoom({ model, compaction, contextLimit }: Settings, refused: number | null): number {
  const summariser = compaction.model ?? model;
  const isOther = formatModelName(summariser) !== formatModelName(model);
  const known = isOther ? Math.min(contextLimit, CONTEXT_LIMITS[summariser.provider]) : contextLimit;
  return READ * Math.min(known, refused === null ? known : Math.max(1_000, refused));
}

/** Each text length is measured once, when it is first needed. */
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

/** How many of the first `wanted` messages fit into the room. */
function howMany(tokens: readonly number[], wanted: number, room: number): number {
  let used = 0;
  for (let count = 0; count < wanted; count += 1) {
    used += tokens[count] ?? 0;
    if (used > room) return count;
  }
  return wanted;
}
