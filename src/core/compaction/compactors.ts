/**
 * The compactors, by type: what each leaves in place of what is before a cut. A new one is a line here and a type in
 * `type.ts`.
 */
import type { Message } from '../message.ts';
import { textTokens } from '../tokens.ts';
import type { CompactorType } from './type.ts';
import { sum } from './sizes.ts';
import type { Sizes } from './sizes.ts';
import { requestBefore, summaryLimit } from './summary.ts';

export type View = { history: readonly Message[]; sizes: Sizes; contextLimit: number };

export type Compactor = {
  /** Whether a model writes what is left. If not, messages stay in the prompt, and are shown shorter. */
  asksModel: boolean;
  /** Tokens of what stands in place of what is before the cut, by characters, at most. */
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

/** Tokens that a model may write in place of what is before the cut: half of what that has, or it is not worth a call. */
export function writtenLimit({ sizes, contextLimit }: View, cut: number): number {
  const replaced = sizes.summary + sum(sizes.shown.slice(0, cut));
  return Math.min(summaryLimit(contextLimit), Math.floor(replaced / 2));
}

/** The last message before the cut that is somebody's, and no note of the platform's own; null: there is none. */
export function lastBefore(history: readonly Message[], cut: number): Message | null {
  return history.slice(0, cut).findLast(({ role }) => role !== 'system') ?? null;
}
