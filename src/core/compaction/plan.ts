/** Whether and how to compact a prompt: where to cut, and how much that saves. Pure; makes no decisions about jobs. */
import { parseModelName } from '../model/model.ts';
import type { Settings } from '../workers/settings.ts';
import { textTokens } from '../money/tokens.ts';
import { COMPACTORS, writtenLimit, type View } from './compactors.ts';
import { cutBefore, cutsOf } from './cuts.ts';
import { readerOf, readingRoom, type Reader } from './reading.ts';
import { isSummarised, type Memory, type Unread } from './compacted.ts';
import type { AskedCompaction } from './settings.ts';
import type { CompactorType } from './type.ts';
import { promptTokens, sizesOf, sum, totalOf } from './sizes.ts';

/**
 * Why compaction is considered. `due`: checked before every model call. `refused`: the provider reported that the
 * prompt is too long. `asked`: a client requested it. `rest`: the remainder of a requested compaction that could not
 * be done in one step.
 */
export type Occasion = 'due' | 'refused' | 'asked' | 'rest';

export type CompactionPlan = {
  type: CompactorType;
  /** Index into history: messages before it are compacted. */
  cut: number;
  /** The number of the last compacted message. */
  uptoSeq: number;
  tokensBefore: number;
  /**
   * For a model: the index where its input starts, the maximum characters of one text, and the maximum tokens of its
   * summary.
   */
  from: number;
  longest: number;
  written: number;
  /**
   * Estimated tokens (by characters) that remain without the summary, and the factor from that estimate to the token
   * estimate.
   */
  rest: number;
  scale: number;
};

/** What a compaction must achieve, in tokens: the target size and the minimum saving. */
type Aim = { goal: number; gain: number };

/** Minimum tokens for a summary: with less room the model is not called. */
const LEAST = 25;

/** Null: not due, or no compaction would save enough. */
export function planCompaction(memory: Memory, settings: Settings, occasion: Occasion): CompactionPlan | null {
  const { compaction, contextLimit } = settings;
  const { type } = compaction;
  if (type === 'none') return null;
  const tokensBefore = promptTokens(memory, settings);
  const due = compaction.threshold * contextLimit;
  if (occasion === 'due' && tokensBefore < due) return null;
  const sizes = sizesOf(memory, settings);
  const view: View = { history: memory.history, sizes, contextLimit };
  // A request for a number of turns gets exactly that number, unless those turns alone are too long.
  const cuts =
    occasion === 'rest' || (occasion === 'asked' && tokensBefore < due)
      ? cutBefore(memory.history, compaction.keepTurns)
      : cutsOf(memory.history, compaction.keepTurns);
  const read = readerOf(memory, readingRoom(settings, occasion === 'refused' ? tokensBefore : null));
  const prompt: LongPrompt = { memory, type, view, read, tokensBefore };
  const weighed = cuts.flatMap((cut) => weigh(prompt, cut) ?? []);
  return choose(weighed, aimOf(occasion, tokensBefore, due, contextLimit));
}

/**
 * Plans a summary for a history that is too large to read at once: as much of its beginning as the model can read.
 * The size of the unread part is estimated from its bytes. Null: the compaction type is not `llm`, or a summary would
 * save nothing.
 */
export function planBeginning(
  { history, compacted }: Memory,
  { messages, readBytes, bytes }: Unread,
  settings: Settings,
): CompactionPlan | null {
  if (settings.compaction.type !== 'llm') return null;
  const memory = { history: history.slice(0, messages), compacted };
  const known = sizesOf(memory, settings);
  const sizes = { ...known, fixed: known.fixed + (sum(known.shown) * bytes) / readBytes };
  const view: View = { history: memory.history, sizes, contextLimit: settings.contextLimit };
  const read = readerOf(memory, readingRoom(settings, null));
  const tokensBefore = Math.round(totalOf(sizes));
  const whole = weigh({ memory, type: 'llm', view, read, tokensBefore }, messages);
  return whole === null ? null : choose([whole], { goal: 0, gain: 1 });
}

/** The worker's settings overridden by the request. For a requested compaction, type `none` becomes `threshold`. */
export function asAsked(settings: Settings, asked: AskedCompaction): Settings {
  const { compaction } = settings;
  const model = asked.model === undefined ? null : parseModelName(asked.model);
  const type = asked.type ?? (compaction.type === 'none' ? 'threshold' : compaction.type);
  const keepTurns = asked.keep_turns ?? compaction.keepTurns;
  return { ...settings, compaction: { ...compaction, type, keepTurns, model: model ?? compaction.model } };
}

/** Estimated tokens of the prompt after the compaction; `written`: the summary a model wrote, or empty. */
export function tokensAfter({ rest, scale }: CompactionPlan, written: string): number {
  return Math.round((rest + textTokens(written)) * scale);
}

function aimOf(occasion: Occasion, tokensBefore: number, due: number, contextLimit: number): Aim {
  switch (occasion) {
    case 'due':
      // Every compaction invalidates the provider's prompt cache, so a small saving is not worth it.
      return { goal: due, gain: contextLimit / 20 };
    case 'refused':
      return { goal: Math.min(due, tokensBefore * 0.7), gain: tokensBefore / 10 };
    case 'asked':
    case 'rest':
      return { goal: due, gain: 1 };
  }
}

type Weighed = { plan: CompactionPlan; after: number };

/** The plan that keeps most and reaches the goal; if none reaches it, the plan that saves most. */
function choose(weighed: readonly Weighed[], { goal, gain }: Aim): CompactionPlan | null {
  const worth = weighed.filter(({ plan, after }) => plan.tokensBefore - after >= gain);
  const enough = worth.find(({ after }) => after <= goal);
  const best = worth.toSorted((a, b) => a.after - b.after)[0];
  return (enough ?? best)?.plan ?? null;
}

/** A prompt to compact, and how. */
type LongPrompt = { memory: Memory; type: CompactorType; view: View; read: Reader; tokensBefore: number };

/** Null: nothing new before the cut. */
function weigh({ memory, type, view, read, tokensBefore }: LongPrompt, wanted: number): Weighed | null {
  const compactor = COMPACTORS[type];
  const shown = compactor.asksModel ? read(wanted) : { cut: wanted, longest: 0 };
  if (shown === null) return null;
  const { cut, longest } = shown;
  // Not a `system` message of the platform.
  const last = memory.history.slice(0, cut).findLast(({ role }) => role !== 'system');
  const { summary, shortening } = memory.compacted;
  const done = Math.max(summary?.uptoSeq ?? 0, compactor.asksModel ? 0 : (shortening?.uptoSeq ?? 0));
  const scale = tokensBefore / totalOf(view.sizes);
  if (last === undefined || last.seq <= done || !Number.isFinite(scale)) return null;
  const written = compactor.asksModel ? writtenLimit(view, cut) : 0;
  if (compactor.asksModel && written < LEAST) return null;
  const kept = view.sizes.fixed + sum(view.sizes.shown.slice(cut));
  const leaves = compactor.leaves(view, cut);
  const plan: CompactionPlan = {
    type,
    cut,
    uptoSeq: last.seq,
    tokensBefore,
    from: memory.history.findIndex((message) => !isSummarised(memory.compacted, message)),
    longest,
    written,
    rest: compactor.asksModel ? kept : kept + leaves,
    scale,
  };
  return { plan, after: Math.round((kept + leaves) * scale) };
}
