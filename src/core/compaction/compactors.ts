/**
 * The compactors by type: what each leaves in place of the messages before a cut. To add a compactor, add an entry
 * here and a type in `type.ts`.
 */
import type { Message } from '../conversation/message.ts';
import { textTokens } from '../money/tokens.ts';
import type { CompactorType } from './type.ts';
import { sum, type Sizes } from './sizes.ts';
import { requestBefore, summaryLimit } from './summary.ts';

export type View = { history: readonly Message[]; sizes: Sizes; contextLimit: number };

type Compactor = {
  /** Whether a model writes the replacement. If not, messages stay in the prompt in a shorter form. */
  asksModel: boolean;
  /** Maximum tokens, estimated from characters, of what replaces the messages before the cut. */
  leaves(view: View, cut: number): number;
};

export const COMPACTORS: Readonly<Record<CompactorType, Compactor>> = {
  threshold: {
    asksModel: false,
    leaves: ({ sizes }, cut) => sizes.summary + sum(sizes.short.slice(0, cut)),
  },
  llm: {
    asksModel: true,
    leaves: (view, cut) =>
      writtenLimit(view, cut) + textTokens(requestBefore(view.history, cut, view.contextLimit)) + 1,
  },
};

/**
 * Tokens a model may write for what is before the cut: at most half of the current size, otherwise the call is not
 * worth it.
 */
export function writtenLimit({ sizes, contextLimit }: View, cut: number): number {
  const replaced = sizes.summary + sum(sizes.shown.slice(0, cut));
  return Math.min(summaryLimit(contextLimit), Math.floor(replaced / 2));
}
